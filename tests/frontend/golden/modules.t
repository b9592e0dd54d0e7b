program attention {
  %0 = input "x" : f32[4,2,8]
  %1 = param "net.in_proj_weight" : f32[24,8]
  %2 = param "net.in_proj_bias" : f32[24]
  %3 = param "net.out_proj.weight" : f32[8,8]
  %4 = param "net.out_proj.bias" : f32[8]
  %5 = constant "0.5" : f32[]
  %6 = linear(%0, %1, %2) : f32[4,2,24]  @ attention.py:10
  %7 = reshape(%6, shape=[4,2,3,8]) : f32[4,2,3,8]  @ attention.py:10
  %8 = unsqueeze(%7, dim=0) : f32[1,4,2,3,8]  @ attention.py:10
  %9 = transpose(%8, dim0=0, dim1=-2) : f32[3,4,2,1,8]  @ attention.py:10
  %10 = squeeze(%9, dim=-2) : f32[3,4,2,8]  @ attention.py:10
  %11 = select(%10, dim=0, index=0) : f32[4,2,8]  @ attention.py:10
  %12 = select(%10, dim=0, index=1) : f32[4,2,8]  @ attention.py:10
  %13 = select(%10, dim=0, index=2) : f32[4,2,8]  @ attention.py:10
  %14 = reshape(%11, shape=[4,4,4]) : f32[4,4,4]  @ attention.py:10
  %15 = transpose(%14, dim0=0, dim1=1) : f32[4,4,4]  @ attention.py:10
  %16 = reshape(%12, shape=[4,4,4]) : f32[4,4,4]  @ attention.py:10
  %17 = transpose(%16, dim0=0, dim1=1) : f32[4,4,4]  @ attention.py:10
  %18 = reshape(%13, shape=[4,4,4]) : f32[4,4,4]  @ attention.py:10
  %19 = transpose(%18, dim0=0, dim1=1) : f32[4,4,4]  @ attention.py:10
  %20 = mul(%15, %5) : f32[4,4,4]  @ attention.py:10
  %21 = transpose(%17, dim0=-2, dim1=-1) : f32[4,4,4]  @ attention.py:10
  %22 = matmul(%20, %21) : f32[4,4,4]  @ attention.py:10
  %23 = softmax(%22, dim=-1) : f32[4,4,4]  @ attention.py:10
  %24 = matmul(%23, %19) : f32[4,4,4]  @ attention.py:10
  %25 = transpose(%24, dim0=0, dim1=1) : f32[4,4,4]  @ attention.py:10
  %26 = reshape(%25, shape=[8,8]) : f32[8,8]  @ attention.py:10
  %27 = linear(%26, %3, %4) : f32[8,8]  @ attention.py:10
  %28 = reshape(%27, shape=[4,2,8]) : f32[4,2,8]  @ attention.py:10
  return %28
}

program autocast {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight" : f32[8,8]
  %2 = param "net.bias" : f32[8]
  %3 = to(%2, dtype=bf16) : bf16[8]
  %4 = to(%1, dtype=bf16) : bf16[8,8]
  %5 = to(%0, dtype=bf16) : bf16[4,8]
  %6 = linear(%5, %4, %3) : bf16[4,8]
  %7 = to(%6, dtype=f32) : f32[4,8]  @ autocast.py:12
  %8 = add(%7, %0) : f32[4,8]  @ autocast.py:12
  return %8
}

program batch_norm_eval {
  %0 = input "x" : f32[4,8]
  %1 = param "n.weight" : f32[8]
  %2 = param "n.bias" : f32[8]
  %3 = buffer "n.running_mean" : f32[8]
  %4 = buffer "n.running_var" : f32[8]
  %5 = batch_norm(%0, %1, %2, %3, %4, eps=1e-05) : f32[4,8]  @ batch_norm_eval.py:11
  return %5
}

program batch_norm_train {
  %0 = input "x" : f32[4,8]
  %1 = param "n.weight" : f32[8]
  %2 = param "n.bias" : f32[8]
  %3 = buffer "n.running_mean" : f32[8]
  %4 = buffer "n.running_var" : f32[8]
  %5 = buffer "n.num_batches_tracked" : i64[]
  %6 = constant "1" : i64[]
  %7 = add(%5, %6) : i64[]  @ batch_norm_train.py:10
  %8, %9, %10, %11, %12 = batch_norm_train(%0, %1, %2, %3, %4, eps=1e-05, momentum=0.1) : f32[4,8], f32[8], f32[8], f32[8], f32[8]  @ batch_norm_train.py:10
  state "n.running_mean" = %11
  state "n.running_var" = %12
  state "n.num_batches_tracked" = %7
  return %8
}

program buffers_swapped {
  %0 = input "x" : f32[4,8]
  %1 = buffer "steps" : i64[]
  %2 = buffer "a" : f32[8]
  %3 = buffer "b" : f32[8]
  %4 = constant "1" : i64[]
  %5 = add(%1, %4) : i64[]  @ buffers_swapped.py:12
  %6 = mul(%0, %3) : f32[4,8]  @ buffers_swapped.py:16
  %7 = clone(%3) : f32[8]
  %8 = clone(%2) : f32[8]
  %9 = clone(%2) : f32[8]
  state "steps" = %5
  state "a" = %7
  state "b" = %8
  return %6, %9
}

program complex_inside {
  %0 = input "x" : f32[4,8]
  %1 = library(%0, args="torch.ops.aten.mul.Tensor(torch.ops.aten.fft_rfft.default({0}), 2j), 8", call="aten.fft_irfft.default", types="f32[4,8]") : f32[4,8]  @ complex_inside.py:7
  return %1
}

program constants {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.5 inf" : f32[2]
  %2 = constant "loose" : f32[8]
  %3 = constant "lifted_tensor_1" : i64[100]
  %4 = select(%1, dim=0, index=0) : f32[]  @ constants.py:10
  %5 = mul(%0, %4) : f32[4,8]  @ constants.py:10
  %6 = add(%5, %2) : f32[4,8]  @ constants.py:10
  %7 = slice(%3, end=8, start=0) : i64[8]  @ constants.py:10
  %8 = add(%6, %7) : f32[4,8]  @ constants.py:10
  return %8
}

program dict_of_outputs {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.0" : f32[]
  %2 = add(%0, %1) : f32[4,8]  @ dict_of_outputs.py:7
  %3, %4 = max_dim(%0, dim=1) : f32[4], i64[4]  @ dict_of_outputs.py:7
  return %2, %3, %4
}

program fresh_outputs {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = mul(%0, %1) : f32[4,8]  @ fresh_outputs.py:7
  %3 = t(%0) : f32[8,4]  @ fresh_outputs.py:8
  %4 = t(%0) : f32[8,4]  @ fresh_outputs.py:8
  %5 = clone(%0) : f32[4,8]
  %6 = clone(%2) : f32[4,8]
  %7 = clone(%4) : f32[8,4]
  return %5, %3, %2, %6, %7
}

program in_place_on_views {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.0" : f32[]
  %2 = constant "2.0" : f32[]
  %3 = mul(%0, %2) : f32[4,8]  @ in_place_on_views.py:7
  %4 = expand(%1, size=[4]) : f32[4]  @ in_place_on_views.py:8
  %5 = select_scatter(%3, %4, dim=1, index=0) : f32[4,8]  @ in_place_on_views.py:8
  %6 = slice(%0, end=2, start=0) : f32[2,8]  @ in_place_on_views.py:9
  %7 = slice(%5, end=3, start=1) : f32[2,8]  @ in_place_on_views.py:9
  %8 = add(%7, %6) : f32[2,8]  @ in_place_on_views.py:9
  %9 = slice_scatter(%5, %8, end=3, start=1) : f32[4,8]  @ in_place_on_views.py:9
  %10 = slice(%9, end=3, start=1) : f32[2,8]  @ in_place_on_views.py:9
  %11 = slice_scatter(%9, %10, end=3, start=1) : f32[4,8]  @ in_place_on_views.py:9
  %12 = relu(%11) : f32[4,8]  @ in_place_on_views.py:10
  return %12
}

program integers {
  %0 = input "x" : i64[4]
  %1 = input "table" : f32[9,2]
  %2 = constant "2" : i64[]
  %3 = index(%1, %0) : f32[4,2]  @ integers.py:7
  %4 = floor_divide(%0, %2) : i64[4]  @ integers.py:7
  %5 = to(%4, dtype=f32) : f32[4]  @ integers.py:7
  %6 = unsqueeze(%5, dim=1) : f32[4,1]  @ integers.py:7
  %7 = add(%3, %6) : f32[4,2]  @ integers.py:7
  return %7
}

program lists_as_arguments {
  %0 = input "xs_0" : f32[3]
  %1 = input "xs_1" : f32[3]
  %2 = constant "3.0" : f32[]
  %3 = mul(%0, %2) : f32[3]  @ lists_as_arguments.py:7
  %4 = add(%3, %1) : f32[3]  @ lists_as_arguments.py:7
  return %4
}

program lstm {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight_ih_l0" : f32[20,8]
  %2 = param "net.weight_hh_l0" : f32[20,5]
  %3 = param "net.bias_ih_l0" : f32[20]
  %4 = param "net.bias_hh_l0" : f32[20]
  %5 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ lstm.py:10
  %6 = full(dtype=f32, shape=[1,1,5], value=0.0) : f32[1,1,5]  @ lstm.py:10
  %7 = full(dtype=f32, shape=[1,1,5], value=0.0) : f32[1,1,5]  @ lstm.py:10
  %8, %9, %10 = lstm(%5, %6, %7, %1, %2, %3, %4, batch_first=true, bidirectional=false, has_biases=true, num_layers=1) : f32[1,4,5], f32[1,1,5], f32[1,1,5]  @ lstm.py:10
  %11 = squeeze(%8, dim=0) : f32[4,5]  @ lstm.py:10
  return %11
}

program sizes_from_data {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0" : f32[]
  %2 = gt(%0, %1) : b1[4,8]  @ sizes_from_data.py:7
  %3 = library(%0, %2, args="torch.ops.aten.index.Tensor({0}, [{1}])", call="aten.sum.default", types="f32[]") : f32[]  @ sizes_from_data.py:8
  %4 = library(%3, %0, %2, args="{0}, torch.ops.aten.sym_size.int(torch.ops.aten.index.Tensor({1}, [{2}]), 0)", call="aten.div.Tensor", types="f32[]") : f32[]  @ sizes_from_data.py:8
  return %4
}

program tied {
  %0 = input "x" : i64[4]
  %1 = param "out.weight" : f32[9,8]
  %2 = embedding(%1, %0) : f32[4,8]  @ tied.py:12
  %3 = linear(%2, %1) : f32[4,9]  @ tied.py:12
  return %3
}

