# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Turns schema.sql into a C++ source at build time, so that the schema is read and reviewed as SQL and shipped inside
# the program. In: the path of the SQL file. Out: a source that defines the string schema_sql. Meson calls it whenever
# schema.sql changed.
#
# Usage: embed.py SCHEMA.sql OUTPUT.cpp
import sys

source, target = sys.argv[1:]
with open(source, encoding='utf-8') as file:
    text = file.read()
assert ')sql"' not in text
with open(target, 'w', encoding='utf-8') as file:
    file.write('#include "store/schema.h"\n\n'
               'const std::string_view tailor::store::schema_sql = R"sql(' + text + ')sql";\n')
