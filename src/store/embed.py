# SPDX-FileCopyrightText: 2026 The Tailor authors
# SPDX-License-Identifier: Apache-2.0
#
# Turns schema.sql into a C++ source at build time, so the schema is read and checked as SQL and shipped in the program.
# Usage: embed.py SCHEMA.sql OUTPUT.cpp
import sys

source, target = sys.argv[1:]
with open(source, encoding='utf-8') as file:
    text = file.read()
assert ')sql"' not in text
with open(target, 'w', encoding='utf-8') as file:
    file.write('#include "store/schema.h"\n\n'
               'const std::string_view tailor::store::schema_sql = R"sql(' + text + ')sql";\n')
