// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of measurements: cells and units are read as they stand, what does not fit is refused with its line and
// column, and each known format gives the kernels, regimes and times that its publisher describes. Inputs are small
// tables made here, and where third-party data is at hand the published files themselves. Part of the suite
// `calibrate`.
#include "calibrate/csv.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "calibrate/pytorch.h"
#include "calibrate/read_csv.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

std::vector<ir::Device> shipped_devices() {
  std::vector<ir::Device> all;
  const std::string folder = source_folder() + "/data/devices";
  for (const std::string& name : ir::device_names(folder)) all.push_back(ir::find_device(name, folder));
  return all;
}

std::vector<ir::Observation> read(const std::string& text, const std::string& facts = "") {
  static const std::vector<ir::Device> devices = shipped_devices();
  return parse_measurements(text, "rows.csv", facts, devices);
}

std::string csv_refusal(const std::string& text, const std::string& facts = "") {
  try {
    read(text, facts);
  } catch (const Error& error) {
    return error_text(error);
  }
  return "";
}

const ir::ForeignKernel& foreign(const ir::Observation& one) { return std::get<ir::ForeignKernel>(one.subject); }

const std::string neusight_head =
    "gpu,op,dtype,rows,cols,grid_x,grid_y,grid_z,block_x,block_y,block_z,kernel,samples,latency_us,source\n";

}  // namespace

TEST_CASE("cells are read with quotes, comments and either end of a line") {
  const CsvTable table = parse_csv("# said first\n a ,b\r\n1,\"x, \"\"y\"\"\nz\"\n\n2,\n", "t.csv");
  CHECK(table.head == std::vector<std::string>{"a", "b"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].cells == std::vector<std::string>{"1", "x, \"y\"\nz"});
  CHECK(table.rows[0].line == 3);
  CHECK(table.rows[1].cells == std::vector<std::string>{"2", ""});
  CHECK(table.rows[1].line == 6);
}

TEST_CASE("a comment ends with its line whatever is in it, and a mark of the byte order is no part of a name") {
  const CsvTable table = parse_csv(
      "\xef\xbb\xbf"
      "a,b\n#it's \"one,\"two\n1,2\n#,\"\n3,4\n#last",
      "t.csv");
  CHECK(table.head == std::vector<std::string>{"a", "b"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].cells == std::vector<std::string>{"3", "4"});
  CHECK(table.rows[1].line == 5);
}

TEST_CASE("a quantity is read in the unit that its column ends with, and without one it is refused") {
  const auto quantity_of = [](const std::string& column, const std::string& cell) {
    const CsvTable table = parse_csv(column + ",other\n" + cell + ",1\n", "t.csv");
    return CsvRow(table, table.rows[0]).quantity("time");
  };
  CHECK(*quantity_of("time_us", "31.5") == approx(3.15e-5));
  CHECK(*quantity_of("time_ms", "2") == approx(2e-3));
  CHECK(*quantity_of("time_s", "2e-6") == approx(2e-6));
  CHECK(*quantity_of("time_ns", "7") == approx(7e-9));
  CHECK_FALSE(quantity_of("time_us", "").has_value());
  CHECK_FALSE(quantity_of("time_fortnights", "1").has_value());
  CHECK_THROWS_AS(quantity_of("time", "1"), Error);
  CHECK_THROWS_AS(quantity_of("time_us", "-1"), Error);
  CHECK_THROWS_AS(quantity_of("time_us", "fast"), Error);
}

TEST_CASE("Tailor's own columns hold every field of an observation") {
  const auto rows = read(
      "device,operation,shape,variant,blocks,threads,shared_kb,registers,read_mb,written_mb,common_kb,reread_mb,far_"
      "trips,"
      "near_trips,shuffles,barriers,instructions,transcendental,regime,time_us,low_us,high_us\n"
      "NVIDIA H200,softmax f32,512x1024,vector=4,64,128,2,32,2,2.5,3,4,1,2,5,3,1000,500,"
      "\"cold, activity, stream, with ramp\",31,30,33\n");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].device == "h200");
  CHECK(rows[0].time.value == approx(3.1e-5));
  CHECK(rows[0].low.value == approx(3e-5));
  CHECK(rows[0].high.value == approx(3.3e-5));
  CHECK(text(rows[0].regime) == "cold, activity, stream, with ramp");
  CHECK(rows[0].source == "rows.csv line 2");
  CHECK(foreign(rows[0]) == ir::ForeignKernel{"softmax f32", "512x1024", 64, 128, 2000, 32, 2e6, 2.5e6, "vector=4", 3e3,
                                              4e6, 1, 2, 5, 3, 1000, 500});
  // Device, operation and time are enough to keep it; without a regime it is a launch in a row of launches, cold.
  const auto bare = read("device,operation,time_ms\nmine,scale f32,1\n");
  CHECK(bare[0].device == "mine");
  CHECK(bare[0].regime == ir::Regime{});
  CHECK(bare[0].low == bare[0].high);
}

TEST_CASE("what does not fit is refused with file, line and column") {
  const std::pair<std::string, std::string> wrong[] = {
      {"device,operation,time\nh200,scale,3\n", "a column with its unit: time_s, time_ms, time_us or time_ns"},
      {"device,operation,time_us\nh200,scale,-3\n", "rows.csv:2: found '-3' in column 'time_us', expected a number"},
      {"device,operation,time_us\nh200,scale,0\n", "expected a time above 0"},
      {"device,operation,time_us\nh200,scale,\n", "expected a time above 0"},
      {"device,operation,time_us\nh200,scale,3 us\n", "found '3 us' in column 'time_us'"},
      {"device,operation,time_us\nh200,,3\n", "what the kernel computes"},
      {"device,operation,time_us,time_ms\nh200,scale,3,3\n", "column 'time_us' says it too"},
      {"device,operation,time_us,low_us\nh200,scale,3,4\n", "rows.csv:2: observation: found '3e-06' for time"},
      {"device,operation,time_us\nh200,scale,3\nh200,scale\n", "rows.csv:3: found 2 cells, expected 3"},
      {"device,device,operation,time_us\nh200,h200,scale,3\n", "found column 'device' twice"},
      {"device,operation,time_us,regime\nh200,scale,3,tepid\n", "rows.csv:2: regime"},
      {"device,operation,time_us\n", "found no row of measurements"},
      {"", "found no row of measurements"},
      {"device,operation,time_us,blocks\nh200,scale,3,1.5\n",
       "found '1.5' in column 'blocks', expected a whole number"},
      {"device,operation,time_us,threads\nh200,scale,3,1e300\n", "in column 'threads', expected a whole number"},
      {"device,operation,time_us,read_kb,common_mb\nh200,scale,3,2,1\n",
       "rows.csv:2: found 1000000 bytes that every block loads, expected no more than the 2000 that are read"},
      {"device,operation,time_us,reads_bytes\nh200,scale,3,2\n", "rows.csv:1: found column 'reads_bytes'"},
      {"device,operation,time_us,thread\nh200,scale,3,2\n", "rows.csv:1: found column 'thread'"},
      {"a,b\n1,2\n", "rows.csv:1: found columns of no known table: a, b"},
      {"device,operation,time_us\nh200,\"scale,3\n", "rows.csv:2: found quotes that do not end"},
      {neusight_head + "Tesla T4,sine,f32,8,8,1,1,1,128,1,1,k,5,30,s\n", "rows.csv:2: found 'sine' in column 'op'"},
      {neusight_head + "Tesla T4,add,f16,8,8,1,1,1,128,1,1,k,5,30,s\n", "expected f32"},
      {neusight_head + "Tesla T4,add,f32,0,8,1,1,1,128,1,1,k,5,30,s\n", "found '0' in column 'rows'"},
      {neusight_head + "Tesla T4,add,f32,8,8,1,1,1,128,1,1,k,5,-30,s\n", "found '-30' in column 'latency_us'"},
      {"block_size_x,block_size_y,status,time_ms,std_ms\n32,1,ok,3,0.1\n", "without its kernel, device"},
  };
  for (const auto& [text, message] : wrong) {
    CAPTURE(text);
    CHECK(csv_refusal(text).find(message) != std::string::npos);
  }
  // A column that is like none of ours is somebody's own.
  CHECK(csv_refusal("device,operation,time_us,node,measured_by\nh200,scale,3,2,me\n").empty());
}

TEST_CASE("a name of a GPU is the device whose file says it is reported so") {
  const std::vector<ir::Device> devices = shipped_devices();
  for (const auto& [name, device] :
       std::map<std::string, std::string>{{"NVIDIA A100-PCIE-40GB", "a100_pcie_40gb"},
                                          {"Tesla V100-PCIE-32GB", "v100_pcie"},
                                          {"Tesla P100-PCIE-16GB", "p100_pcie"},
                                          {"Tesla P4", "p4"},
                                          {"Tesla T4", "t4"},
                                          {"h200", "h200"},
                                          {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"},
                                          {"P", "P"}})
    CHECK(device_called(devices, name) == device);
}

TEST_CASE("calls of PyTorch are warm times from the host with the framework's floor") {
  const auto rows = read(neusight_head + "Tesla V100-PCIE-32GB,add,f32,100,300,59,1,1,128,1,1,k<4>,5,32.5,s\n" +
                         "Tesla V100-PCIE-32GB,softmax,f32,100,300,25,1,1,32,4,1,k<9>,5,41,s\n" +
                         "Tesla V100-PCIE-32GB,softmax,f32,100,3000,100,1,1,512,1,1,k,5,42,s\n" +
                         "Tesla V100-PCIE-32GB,ln,f32,100,2048,100,1,1,32,4,1,k,3,58,s\n");
  REQUIRE(rows.size() == 4);
  for (const ir::Observation& row : rows) {
    CHECK(row.device == "v100_pcie");
    CHECK(text(row.regime) == "warm, host, stream, with launch gap and ramp and dispatch floor");
    CHECK(foreign(row).threads % 128 == 0);
    CHECK(foreign(row).far_trips > 0);
  }
  CHECK(foreign(rows[0]).operation == "add f32");
  CHECK(foreign(rows[0]).shape == "100x300");
  CHECK(foreign(rows[0]).read == 2 * 4 * 30000);
  CHECK(foreign(rows[0]).written == 4 * 30000);
  CHECK(foreign(rows[0]).reread == 0);
  CHECK(foreign(rows[1]).reread == 0);               // the row stays in registers
  CHECK(foreign(rows[2]).reread == 2 * 4 * 300000);  // three passes
  CHECK(foreign(rows[3]).reread == 4 * 100 * 2048);  // two passes
  CHECK(foreign(rows[3]).read == 4 * 100 * 2048 + 8 * 2048);
  CHECK(foreign(rows[3]).written == 4 * 100 * 2048 + 8 * 100);
}

TEST_CASE("trips of layer norm count the batch and the remainder that a mixed warp runs both") {
  // 2048 columns are 512 vectors: four turns of 128 threads, one batch. 1920: lanes of whole warps have four or three
  // turns, three remainders at most. 1904: a warp with both kinds of lanes runs the batch and three remainders.
  const auto trips = [](std::int64_t columns) { return pytorch_kernel("ln", 64, columns)->far_trips; };
  CHECK(trips(2048) == 1);
  CHECK(trips(1920) == 3);
  CHECK(trips(1904) == 4);
  CHECK(trips(512) == 1);
  CHECK(trips(1024) == 2);
  CHECK(trips(4096) == 2);
  CHECK_FALSE(pytorch_kernel("sine", 8, 8).has_value());
  for (const std::string_view operation : pytorch_operations())
    for (const std::int64_t columns : {1, 3, 128, 1000, 1024, 1025, 4096}) {
      const auto kernel = pytorch_kernel(operation, 77, columns);
      REQUIRE(kernel.has_value());
      CHECK(kernel->blocks > 0);
      CHECK(kernel->threads >= 32);
    }
}

TEST_CASE("rows of a row-wise softmax that begin off a vector cost a turn more") {
  const auto trips = [](std::int64_t columns) { return pytorch_kernel("softmax", 64, columns, 64, 512)->far_trips; };
  CHECK(trips(2048) == 1);
  CHECK(trips(4096) == 2);
  CHECK(trips(2080) == 2);  // one vector turn, one of the tail
  CHECK(trips(2081) > trips(2080));
}

TEST_CASE("bandwidths of small kernels become times of launches; barriers within a kernel are none") {
  const auto rows = read(
      "gpu,mode,elements,volume_bytes,gbs_block32,gbs_block1024\nH200,stream,4096,65536,16,32\n"
      "H200,graph,4096,65536,64,\nH200,grid_sync,4096,65536,99,99\n");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].device == "h200");
  CHECK(rows[0].time.value == approx(65536 / 16e9));
  CHECK(rows[0].low < rows[0].time);
  CHECK(text(rows[0].regime) == "warm, stream, stream, with launch gap and ramp");
  CHECK(rows[2].regime.launch == ir::LaunchMode::graph);
  CHECK(foreign(rows[0]).blocks == 128);
  CHECK(foreign(rows[1]).blocks == 4);
  CHECK(rows[0].split == rows[1].split);
}

TEST_CASE("configurations of one tuning space are plans of one group") {
  const std::string facts =
      R"({"kernel": "convolution_kernel", "device": "NVIDIA H200", "problem_size": [64, 32],
          "parameters": {"block_size_x": [16, 32], "block_size_y": [1, 2], "use_shmem": [0, 1], "filter_width": [3]}})";
  const auto rows = read(
      "block_size_x,block_size_y,use_shmem,filter_width,filter_height,status,time_ms,std_ms\n"
      "16,1,0,3,3,ok,2,0.1\n32,2,1,3,3,ok,1,0.1\n32,1,1,3,3,compile_failed,,\n",
      facts);
  REQUIRE(rows.size() == 2);
  CHECK(foreign(rows[0]).variant == "block_size_x=16 block_size_y=1 use_shmem=0");
  CHECK(foreign(rows[0]).blocks == 4 * 32);
  CHECK(foreign(rows[1]).blocks == 2 * 16);
  CHECK(foreign(rows[1]).shared == 34 * 4 * 4);
  CHECK(foreign(rows[0]).shape == foreign(rows[1]).shape);
  CHECK(rows[0].split == rows[1].split);
  CHECK(rows[0].time.value == approx(2e-3));
}

TEST_CASE("the published tables are read whole, each shape on one side of the split" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::filesystem::path folder = std::filesystem::path(third_party_folder()) / "measurements";
  if (third_party_folder().empty() || !std::filesystem::exists(folder)) {
    MESSAGE("skipped: no third-party data");
    return;
  }
  const std::vector<ir::Device> devices = shipped_devices();
  const auto all = read_measurements(folder / "neusight_train.csv", devices);
  CHECK(all.size() == 19965);
  std::map<std::pair<std::string, std::string>, ir::Split> side;
  std::map<std::string, int> by_device;
  std::set<Id> ids;
  for (const ir::Observation& one : all) {
    const auto [first, fresh] = side.try_emplace({foreign(one).operation, foreign(one).shape}, one.split);
    CHECK(first->second == one.split);
    ++by_device[one.device];
    ids.insert(one.id);
  }
  CHECK(ids.size() == all.size());
  CHECK(by_device.size() == 5);
  for (const auto& [device, rows] : by_device) CHECK(rows == 3993);
  CHECK(read_measurements(folder / "neusight_train_amd.csv", devices).size() == 2660);
  CHECK(read_measurements(folder / "gpu_benches" / "small_kernels.csv", devices).size() > 8000);
  CHECK(read_measurements(folder / "gpu_benches" / "stream_occupancy.csv", devices).size() > 500);
  CHECK(read_measurements(folder / "tuning_spaces" / "dedispersion_a100.csv", devices).size() == 11130);
  CHECK(read_measurements(folder / "tuning_spaces" / "convolution_a4000.csv", devices).size() == 4362 - 161);
}
