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

program batch_norm_3d {
  %0 = input "x" : f32[4,8]
  %1 = param "n.weight" : f32[2]
  %2 = param "n.bias" : f32[2]
  %3 = buffer "n.running_mean" : f32[2]
  %4 = buffer "n.running_var" : f32[2]
  %5 = buffer "n.num_batches_tracked" : i64[]
  %6 = constant "1" : i64[]
  %7 = reshape(%0, shape=[2,2,2,2,2]) : f32[2,2,2,2,2]  @ batch_norm_3d.py:10
  %8 = add(%5, %6) : i64[]  @ batch_norm_3d.py:10
  %9, %10, %11, %12, %13 = batch_norm_train(%7, %1, %2, %3, %4, eps=1e-05, momentum=0.1) : f32[2,2,2,2,2], f32[2], f32[2], f32[2], f32[2]  @ batch_norm_3d.py:10
  state "n.running_mean" = %12
  state "n.running_var" = %13
  state "n.num_batches_tracked" = %8
  return %9
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

program cells {
  %0 = input "x" : f32[4,8]
  %1 = param "a.weight_ih" : f32[20,8]
  %2 = param "a.weight_hh" : f32[20,5]
  %3 = param "a.bias_ih" : f32[20]
  %4 = param "a.bias_hh" : f32[20]
  %5 = param "b.weight_ih" : f32[15,8]
  %6 = param "b.weight_hh" : f32[15,5]
  %7 = param "b.bias_ih" : f32[15]
  %8 = param "b.bias_hh" : f32[15]
  %9 = param "c.weight_ih" : f32[5,8]
  %10 = param "c.weight_hh" : f32[5,5]
  %11 = param "c.bias_ih" : f32[5]
  %12 = param "c.bias_hh" : f32[5]
  %13 = full(dtype=f32, shape=[4,5], value=0.0) : f32[4,5]  @ cells.py:12
  %14, %15 = lstm_cell(%0, %13, %13, %1, %2, %3, %4) : f32[4,5], f32[4,5]  @ cells.py:12
  %16 = full(dtype=f32, shape=[4,5], value=0.0) : f32[4,5]  @ cells.py:12
  %17 = gru_cell(%0, %16, %5, %6, %7, %8) : f32[4,5]  @ cells.py:12
  %18 = full(dtype=f32, shape=[4,5], value=0.0) : f32[4,5]  @ cells.py:12
  %19 = rnn_tanh_cell(%0, %18, %9, %10, %11, %12) : f32[4,5]  @ cells.py:12
  return %14, %15, %17, %19
}

program complex_inside {
  %0 = input "x" : f32[4,8]
  %1 = library(%0, args="torch.ops.aten.mul.Tensor(torch.ops.aten.fft_rfft.default({0}), 2j), 8", call="aten.fft_irfft.default", types="f32[4,8]") : f32[4,8]  @ complex_inside.py:7
  return %1
}

program complex_of_copies {
  %0 = input "x" : f32[3,2,5]
  %1 = input "v" : f32[3,5,2]
  %2 = transpose(%0, dim0=1, dim1=2) : f32[3,5,2]  @ complex_of_copies.py:7
  %3 = clone(%2) : f32[3,5,2]
  %4 = library(%3, args="torch.ops.aten.resolve_conj.default(torch.ops.aten.view_as_complex.default({0}))", call="aten.view_as_real.default", types="f32[3,5,2]") : f32[3,5,2]  @ complex_of_copies.py:7
  %5 = library(%4, args="torch.ops.aten.view_as_complex.default({0})", call="aten.abs.default", types="f32[3,5]") : f32[3,5]  @ complex_of_copies.py:8
  %6 = library(%4, args="torch.ops.aten.mul.Tensor(torch.ops.aten.view_as_complex.default({0}), torch.ops.aten.view_as_complex.default({0}))", call="aten.view_as_real.default", types="f32[3,5,2]") : f32[3,5,2]  @ complex_of_copies.py:8
  %7 = library(%4, %1, args="torch.ops.aten.resolve_conj.default(torch.ops.aten.mul.Tensor(torch.ops.aten.clone.default(torch.ops.aten._conj.default(torch.ops.aten.view_as_complex.default({0}))), torch.ops.aten.view_as_complex.default({1})))", call="aten.view_as_real.default", types="f32[3,5,2]") : f32[3,5,2]  @ complex_of_copies.py:8
  return %5, %6, %7
}

program complex_values {
  %0 = input "x" : f32[4,8]
  %1 = input "z" : f32[5,2]
  %2 = param "w@real" : f32[5,2]
  %3 = buffer ".drawn@real" : f32[5,2]
  %4 = constant "turn@real" : f32[5,2]
  %5 = library(%0, %4, %3, %1, args="torch.ops.aten.resolve_conj.default(torch.ops.aten.mul.Tensor(torch.ops.aten.mul.Tensor(torch.ops.aten.mul.Tensor(torch.ops.aten.fft_rfft.default({0}), torch.ops.aten.view_as_complex.default({1})), torch.ops.aten.view_as_complex.default({2})), torch.ops.aten.view_as_complex.default({3})))", call="aten.view_as_real.default", types="f32[4,5,2]") : f32[4,5,2]  @ complex_values.py:12
  %6 = library(%5, args="torch.ops.aten.resolve_conj.default(torch.ops.aten.mul.Tensor(torch.ops.aten.view_as_complex.default({0}), torch.ops.aten.clone.default(torch.ops.aten._conj.default(torch.ops.aten.view_as_complex.default({0})))))", call="aten.view_as_real.default", types="f32[4,5,2]") : f32[4,5,2]  @ complex_values.py:13
  %7 = library(%5, %2, args="torch.ops.aten.mul.Tensor(torch.ops.aten.view_as_complex.default({0}), torch.ops.aten.view_as_complex.default({1}))", call="aten.view_as_real.default", types="f32[4,5,2]") : f32[4,5,2]  @ complex_values.py:13
  return %5, %6, %7
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

program copies_decide_the_layout {
  %0 = input "x" : f32[2,6,7,3]
  %1 = param "conv.weight" : f32[5,3,3,3]
  %2 = param "conv.bias" : f32[5]
  %3 = param "norm.weight" : f32[3]
  %4 = param "norm.bias" : f32[3]
  %5 = buffer "norm.running_mean" : f32[3]
  %6 = buffer "norm.running_var" : f32[3]
  %7 = buffer "norm.num_batches_tracked" : i64[]
  %8 = constant "1.0" : f32[]
  %9 = constant "1" : i64[]
  %10 = permute(%0, dims=[0,3,1,2]) : f32[2,3,6,7]  @ copies_decide_the_layout.py:10
  %11 = relu(%10) : f32[2,3,6,7]  @ copies_decide_the_layout.py:11
  %12 = add(%11, %10) : f32[2,3,6,7]  @ copies_decide_the_layout.py:12
  %13 = add(%11, %8) : f32[2,3,6,7]  @ copies_decide_the_layout.py:13
  %14 = clone(%12) : f32[2,3,6,7]
  %15 = conv2d(%14, %1, %2) : f32[2,5,4,5]  @ copies_decide_the_layout.py:13
  %16 = clone(%10) : f32[2,3,6,7]
  %17 = max_pool2d(%16, kernel_size=[2,2]) : f32[2,3,3,3]  @ copies_decide_the_layout.py:13
  %18 = add(%7, %9) : i64[]  @ copies_decide_the_layout.py:13
  %19, %20, %21, %22, %23 = batch_norm_train(%16, %3, %4, %5, %6, eps=1e-05, momentum=0.1) : f32[2,3,6,7], f32[3], f32[3], f32[3], f32[3]  @ copies_decide_the_layout.py:13
  state "norm.running_mean" = %22
  state "norm.running_var" = %23
  state "norm.num_batches_tracked" = %18
  return %13, %15, %17, %19
}

program dict_of_outputs {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.0" : f32[]
  %2 = add(%0, %1) : f32[4,8]  @ dict_of_outputs.py:7
  %3, %4 = max_dim(%0, dim=1) : f32[4], i64[4]  @ dict_of_outputs.py:7
  return %2, %3, %4
}

program encoder_masks {
  %0 = input "x" : f32[2,4,8]
  %1 = input "m" : b1[4,4]
  %2 = input "p" : b1[2,4]
  %3 = param "net.layers.0.self_attn.in_proj_weight" : f32[24,8]
  %4 = param "net.layers.0.self_attn.in_proj_bias" : f32[24]
  %5 = param "net.layers.0.self_attn.out_proj.weight" : f32[8,8]
  %6 = param "net.layers.0.self_attn.out_proj.bias" : f32[8]
  %7 = param "net.layers.0.linear1.weight" : f32[16,8]
  %8 = param "net.layers.0.linear1.bias" : f32[16]
  %9 = param "net.layers.0.linear2.weight" : f32[8,16]
  %10 = param "net.layers.0.linear2.bias" : f32[8]
  %11 = param "net.layers.0.norm1.weight" : f32[8]
  %12 = param "net.layers.0.norm1.bias" : f32[8]
  %13 = param "net.layers.0.norm2.weight" : f32[8]
  %14 = param "net.layers.0.norm2.bias" : f32[8]
  %15 = constant "-inf" : f32[]
  %16 = constant "0" : i64[]
  %17 = constant "0.0" : f32[]
  %18 = full_like(%1, dtype=f32, value=0.0) : f32[4,4]  @ encoder_masks.py:10
  %19 = masked_fill(%18, %1, %15) : f32[4,4]  @ encoder_masks.py:10
  %20 = transpose(%0, dim0=1, dim1=0) : f32[4,2,8]  @ encoder_masks.py:10
  %21 = linear(%20, %3, %4) : f32[4,2,24]  @ encoder_masks.py:10
  %22 = reshape(%21, shape=[4,2,3,8]) : f32[4,2,3,8]  @ encoder_masks.py:10
  %23 = unsqueeze(%22, dim=0) : f32[1,4,2,3,8]  @ encoder_masks.py:10
  %24 = transpose(%23, dim0=0, dim1=-2) : f32[3,4,2,1,8]  @ encoder_masks.py:10
  %25 = squeeze(%24, dim=-2) : f32[3,4,2,8]  @ encoder_masks.py:10
  %26 = select(%25, dim=0, index=0) : f32[4,2,8]  @ encoder_masks.py:10
  %27 = select(%25, dim=0, index=1) : f32[4,2,8]  @ encoder_masks.py:10
  %28 = select(%25, dim=0, index=2) : f32[4,2,8]  @ encoder_masks.py:10
  %29 = reshape(%26, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %30 = transpose(%29, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %31 = reshape(%27, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %32 = transpose(%31, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %33 = reshape(%28, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %34 = transpose(%33, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %35 = reshape(%30, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %36 = reshape(%32, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %37 = reshape(%34, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %38 = unsqueeze(%19, dim=0) : f32[1,4,4]  @ encoder_masks.py:10
  %39 = unsqueeze(%38, dim=0) : f32[1,1,4,4]  @ encoder_masks.py:10
  %40 = scaled_dot_product_attention(%35, %36, %37, %39) : f32[2,2,4,4]  @ encoder_masks.py:10
  %41 = permute(%40, dims=[2,0,1,3]) : f32[4,2,2,4]  @ encoder_masks.py:10
  %42 = reshape(%41, shape=[8,8]) : f32[8,8]  @ encoder_masks.py:10
  %43 = linear(%42, %5, %6) : f32[8,8]  @ encoder_masks.py:10
  %44 = reshape(%43, shape=[4,2,8]) : f32[4,2,8]  @ encoder_masks.py:10
  %45 = transpose(%44, dim0=1, dim1=0) : f32[2,4,8]  @ encoder_masks.py:10
  %46 = add(%0, %45) : f32[2,4,8]  @ encoder_masks.py:10
  %47 = layer_norm(%46, %11, %12, normalized_shape=[8]) : f32[2,4,8]  @ encoder_masks.py:10
  %48 = linear(%47, %7, %8) : f32[2,4,16]  @ encoder_masks.py:10
  %49 = relu(%48) : f32[2,4,16]  @ encoder_masks.py:10
  %50 = linear(%49, %9, %10) : f32[2,4,8]  @ encoder_masks.py:10
  %51 = add(%47, %50) : f32[2,4,8]  @ encoder_masks.py:10
  %52 = layer_norm(%51, %13, %14, normalized_shape=[8]) : f32[2,4,8]  @ encoder_masks.py:10
  %53 = ne(%2, %16) : b1[2,4]  @ encoder_masks.py:10
  %54 = cumsum(%53, dim=1) : i64[2,4]  @ encoder_masks.py:10
  %55 = gt(%54, %16) : b1[2,4]  @ encoder_masks.py:10
  %56 = eq(%53, %55) : b1[2,4]  @ encoder_masks.py:10
  %57 = all(%56) : b1[]  @ encoder_masks.py:10
  %58 = bitwise_and(%53, %57) : b1[2,4]  @ encoder_masks.py:10
  %59 = unsqueeze(%58, dim=2) : b1[2,4,1]  @ encoder_masks.py:10
  %60 = masked_fill(%0, %59, %17) : f32[2,4,8]  @ encoder_masks.py:10
  %61 = full_like(%2, dtype=f32, value=0.0) : f32[2,4]  @ encoder_masks.py:10
  %62 = masked_fill(%61, %2, %15) : f32[2,4]  @ encoder_masks.py:10
  %63 = transpose(%60, dim0=1, dim1=0) : f32[4,2,8]  @ encoder_masks.py:10
  %64 = linear(%63, %3, %4) : f32[4,2,24]  @ encoder_masks.py:10
  %65 = reshape(%64, shape=[4,2,3,8]) : f32[4,2,3,8]  @ encoder_masks.py:10
  %66 = unsqueeze(%65, dim=0) : f32[1,4,2,3,8]  @ encoder_masks.py:10
  %67 = transpose(%66, dim0=0, dim1=-2) : f32[3,4,2,1,8]  @ encoder_masks.py:10
  %68 = squeeze(%67, dim=-2) : f32[3,4,2,8]  @ encoder_masks.py:10
  %69 = select(%68, dim=0, index=0) : f32[4,2,8]  @ encoder_masks.py:10
  %70 = select(%68, dim=0, index=1) : f32[4,2,8]  @ encoder_masks.py:10
  %71 = select(%68, dim=0, index=2) : f32[4,2,8]  @ encoder_masks.py:10
  %72 = reshape(%69, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %73 = transpose(%72, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %74 = reshape(%70, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %75 = transpose(%74, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %76 = reshape(%71, shape=[4,4,4]) : f32[4,4,4]  @ encoder_masks.py:10
  %77 = transpose(%76, dim0=0, dim1=1) : f32[4,4,4]  @ encoder_masks.py:10
  %78 = reshape(%62, shape=[2,1,1,4]) : f32[2,1,1,4]  @ encoder_masks.py:10
  %79 = expand(%78, size=[-1,2,-1,-1]) : f32[2,2,1,4]  @ encoder_masks.py:10
  %80 = reshape(%79, shape=[4,1,4]) : f32[4,1,4]  @ encoder_masks.py:10
  %81 = reshape(%80, shape=[2,2,-1,4]) : f32[2,2,1,4]  @ encoder_masks.py:10
  %82 = reshape(%73, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %83 = reshape(%75, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %84 = reshape(%77, shape=[2,2,4,4]) : f32[2,2,4,4]  @ encoder_masks.py:10
  %85 = scaled_dot_product_attention(%82, %83, %84, %81) : f32[2,2,4,4]  @ encoder_masks.py:10
  %86 = permute(%85, dims=[2,0,1,3]) : f32[4,2,2,4]  @ encoder_masks.py:10
  %87 = reshape(%86, shape=[8,8]) : f32[8,8]  @ encoder_masks.py:10
  %88 = linear(%87, %5, %6) : f32[8,8]  @ encoder_masks.py:10
  %89 = reshape(%88, shape=[4,2,8]) : f32[4,2,8]  @ encoder_masks.py:10
  %90 = transpose(%89, dim0=1, dim1=0) : f32[2,4,8]  @ encoder_masks.py:10
  %91 = add(%60, %90) : f32[2,4,8]  @ encoder_masks.py:10
  %92 = layer_norm(%91, %11, %12, normalized_shape=[8]) : f32[2,4,8]  @ encoder_masks.py:10
  %93 = linear(%92, %7, %8) : f32[2,4,16]  @ encoder_masks.py:10
  %94 = relu(%93) : f32[2,4,16]  @ encoder_masks.py:10
  %95 = linear(%94, %9, %10) : f32[2,4,8]  @ encoder_masks.py:10
  %96 = add(%92, %95) : f32[2,4,8]  @ encoder_masks.py:10
  %97 = layer_norm(%96, %13, %14, normalized_shape=[8]) : f32[2,4,8]  @ encoder_masks.py:10
  %98 = unsqueeze(%58, dim=2) : b1[2,4,1]  @ encoder_masks.py:10
  %99 = masked_fill(%97, %98, %17) : f32[2,4,8]  @ encoder_masks.py:10
  return %52, %99
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

program gru {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight_ih_l0" : f32[15,8]
  %2 = param "net.weight_hh_l0" : f32[15,5]
  %3 = param "net.weight_ih_l1" : f32[15,5]
  %4 = param "net.weight_hh_l1" : f32[15,5]
  %5 = unsqueeze(%0, dim=1) : f32[4,1,8]  @ gru.py:10
  %6 = full(dtype=f32, shape=[2,1,5], value=0.0) : f32[2,1,5]  @ gru.py:10
  %7, %8 = gru(%5, %6, %1, %2, %3, %4, batch_first=false, bidirectional=false, has_biases=false, num_layers=2) : f32[4,1,5], f32[2,1,5]  @ gru.py:10
  %9 = squeeze(%7, dim=1) : f32[4,5]  @ gru.py:10
  %10 = squeeze(%8, dim=1) : f32[2,5]  @ gru.py:10
  return %9, %10
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
  %10 = relu(%9) : f32[4,8]  @ in_place_on_views.py:10
  return %10
}

program inferred_shapes {
  %0 = input "x" : f32[4,8]
  %1 = input "z" : i64[1,3]
  %2 = constant "4" : i64[1]
  %3 = constant "2" : i64[1]
  %4 = unsqueeze(%0, dim=1) : f32[4,1,8]  @ inferred_shapes.py:7
  %5 = log_softmax(%4, dim=-1) : f32[4,1,8]  @ inferred_shapes.py:7
  %6 = library(%5, %1, %2, %3, args="{0}, {1}, {2}, {3}", call="aten.ctc_loss.Tensor", types="f32[]") : f32[]  @ inferred_shapes.py:7
  %7 = transpose(%0, dim0=-2, dim1=-1) : f32[8,4]  @ inferred_shapes.py:8
  %8 = transpose(%0, dim0=-2, dim1=-1) : f32[8,4]  @ inferred_shapes.py:8
  %9 = slice(%8, dim=1, end=3, start=0) : f32[8,3]  @ inferred_shapes.py:8
  %10, %11, %12, %13 = library(%7, %9, args="{0}, {1}", call="aten.linalg_lstsq.default", types="f32[4,3] f32[0] i64[] f32[0]") : f32[4,3], f32[0], i64[], f32[0]  @ inferred_shapes.py:8
  return %6, %10
}

program instance_norm_running {
  %0 = input "x" : f32[4,8]
  %1 = param "n.weight" : f32[4]
  %2 = param "n.bias" : f32[4]
  %3 = buffer "n.running_mean" : f32[4]
  %4 = buffer "n.running_var" : f32[4]
  %5 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ instance_norm_running.py:10
  %6 = library(%5, %1, %2, %3, %4, args="{0}, {1}, {2}, {3}, {4}, True, 0.1, 1e-05, False", call="aten.instance_norm.default", types="f32[1,4,8]") : f32[1,4,8]  @ instance_norm_running.py:10
  return %6
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

program lstm_deep {
  %0 = input "x" : f32[3,2,8]
  %1 = input "h" : f32[4,2,5]
  %2 = input "c" : f32[4,2,5]
  %3 = param "net.weight_ih_l0" : f32[20,8]
  %4 = param "net.weight_hh_l0" : f32[20,5]
  %5 = param "net.bias_ih_l0" : f32[20]
  %6 = param "net.bias_hh_l0" : f32[20]
  %7 = param "net.weight_ih_l0_reverse" : f32[20,8]
  %8 = param "net.weight_hh_l0_reverse" : f32[20,5]
  %9 = param "net.bias_ih_l0_reverse" : f32[20]
  %10 = param "net.bias_hh_l0_reverse" : f32[20]
  %11 = param "net.weight_ih_l1" : f32[20,10]
  %12 = param "net.weight_hh_l1" : f32[20,5]
  %13 = param "net.bias_ih_l1" : f32[20]
  %14 = param "net.bias_hh_l1" : f32[20]
  %15 = param "net.weight_ih_l1_reverse" : f32[20,10]
  %16 = param "net.weight_hh_l1_reverse" : f32[20,5]
  %17 = param "net.bias_ih_l1_reverse" : f32[20]
  %18 = param "net.bias_hh_l1_reverse" : f32[20]
  %19, %20, %21 = lstm(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, batch_first=false, bidirectional=true, has_biases=true, num_layers=2) : f32[3,2,10], f32[4,2,5], f32[4,2,5]  @ lstm_deep.py:10
  return %19, %20, %21
}

program lstm_projected {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight_ih_l0" : f32[20,8]
  %2 = param "net.weight_hh_l0" : f32[20,3]
  %3 = param "net.bias_ih_l0" : f32[20]
  %4 = param "net.bias_hh_l0" : f32[20]
  %5 = param "net.weight_hr_l0" : f32[3,5]
  %6 = unsqueeze(%0, dim=1) : f32[4,1,8]  @ lstm_projected.py:10
  %7 = full(dtype=f32, shape=[1,1,3], value=0.0) : f32[1,1,3]  @ lstm_projected.py:10
  %8 = full(dtype=f32, shape=[1,1,5], value=0.0) : f32[1,1,5]  @ lstm_projected.py:10
  %9, %10, %11 = library(%6, %7, %8, %1, %2, %3, %4, %5, args="{0}, [{1}, {2}], [{3}, {4}, {5}, {6}, {7}], True, 1, 0.0, True, False, False", call="aten.lstm.input", types="f32[4,1,3] f32[1,1,3] f32[1,1,5]") : f32[4,1,3], f32[1,1,3], f32[1,1,5]  @ lstm_projected.py:10
  %12 = squeeze(%9, dim=1) : f32[4,3]  @ lstm_projected.py:10
  return %12
}

program names_of_torch {
  %0 = input "x" : f32[4,8]
  %1 = param "code" : f32[8]
  %2 = param "graph.weight" : f32[8,8]
  %3 = param "graph.bias" : f32[8]
  %4 = buffer "meta" : f32[8]
  %5 = select(%0, dim=0, index=0) : f32[8]  @ names_of_torch.py:11
  %6 = add(%4, %5) : f32[8]  @ names_of_torch.py:11
  %7 = linear(%0, %2, %3) : f32[4,8]  @ names_of_torch.py:12
  %8 = mul(%7, %1) : f32[4,8]  @ names_of_torch.py:12
  state "meta" = %6
  return %8
}

program packed_outputs {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = mul(%0, %1) : f32[4,8]  @ packed_outputs.py:7
  %3 = reshape(%2, shape=[2,2,8]) : f32[2,2,8]  @ packed_outputs.py:7
  %4 = transpose(%3, dim0=0, dim1=1) : f32[2,2,8]  @ packed_outputs.py:7
  %5 = unsqueeze(%4, dim=0) : f32[1,2,2,8]  @ packed_outputs.py:8
  %6 = select(%4, dim=0, index=1) : f32[2,8]  @ packed_outputs.py:8
  %7 = reshape(%4, shape=[4,8]) : f32[4,8]  @ packed_outputs.py:8
  %8 = reshape(%4, shape=[2,1,2,8]) : f32[2,1,2,8]  @ packed_outputs.py:8
  %9 = clone(%4) : f32[2,2,8]
  %10 = clone(%5) : f32[1,2,2,8]
  %11 = clone(%6) : f32[2,8]
  %12 = clone(%8) : f32[2,1,2,8]
  return %9, %10, %11, %7, %12
}

program parts_of_buffers {
  %0 = input "x" : f32[4,8]
  %1 = input "place" : i64[3]
  %2 = buffer "cache" : f32[2,2,5,4]
  %3 = buffer "bank" : f32[4,8]
  %4 = buffer "counts" : f32[4]
  %5 = constant "2.0" : f32[]
  %6 = constant "0.5" : f32[]
  %7 = reshape(%0, shape=[4,2,4]) : f32[4,2,4]  @ parts_of_buffers.py:11
  %8 = transpose(%7, dim0=0, dim1=1) : f32[2,4,4]  @ parts_of_buffers.py:11
  %9 = slice(%8, dim=1, end=2, start=0) : f32[2,2,4]  @ parts_of_buffers.py:11
  %10 = select(%2, dim=0, index=1) : f32[2,5,4]  @ parts_of_buffers.py:11
  %11 = slice_scatter(%10, %9, dim=1, end=4, start=2) : f32[2,5,4]  @ parts_of_buffers.py:11
  %12 = select_scatter(%2, %11, dim=0, index=1) : f32[2,2,5,4]  @ parts_of_buffers.py:11
  %13 = slice(%0, end=3, start=0) : f32[3,8]  @ parts_of_buffers.py:12
  %14 = slice(%13, dim=1, end=4, start=0) : f32[3,4]  @ parts_of_buffers.py:12
  %15 = select(%12, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:12
  %16 = reshape(%15, shape=[-1,4]) : f32[10,4]  @ parts_of_buffers.py:12
  %17 = library(%16, %1, %14, args="{0}, [{1}], {2}", call="aten.index_put.default", types="f32[10,4]") : f32[10,4]  @ parts_of_buffers.py:12
  %18 = reshape(%17, shape=[2,5,4]) : f32[2,5,4]  @ parts_of_buffers.py:12
  %19 = select_scatter(%12, %18, dim=0, index=0) : f32[2,2,5,4]  @ parts_of_buffers.py:12
  %20 = select(%19, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %21 = select(%20, dim=0, index=0) : f32[5,4]  @ parts_of_buffers.py:13
  %22 = transpose(%21, dim0=0, dim1=1) : f32[4,5]  @ parts_of_buffers.py:13
  %23 = slice(%22, end=3, start=1) : f32[2,5]  @ parts_of_buffers.py:13
  %24 = slice(%23, dim=1, end=2, start=0) : f32[2,2]  @ parts_of_buffers.py:13
  %25 = mul(%24, %5) : f32[2,2]  @ parts_of_buffers.py:13
  %26 = select(%19, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %27 = select(%26, dim=0, index=0) : f32[5,4]  @ parts_of_buffers.py:13
  %28 = transpose(%27, dim0=0, dim1=1) : f32[4,5]  @ parts_of_buffers.py:13
  %29 = slice(%28, end=3, start=1) : f32[2,5]  @ parts_of_buffers.py:13
  %30 = slice_scatter(%29, %25, dim=1, end=2, start=0) : f32[2,5]  @ parts_of_buffers.py:13
  %31 = slice_scatter(%28, %30, end=3, start=1) : f32[4,5]  @ parts_of_buffers.py:13
  %32 = transpose(%31, dim0=0, dim1=1) : f32[5,4]  @ parts_of_buffers.py:13
  %33 = select_scatter(%26, %32, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %34 = select_scatter(%19, %33, dim=0, index=0) : f32[2,2,5,4]  @ parts_of_buffers.py:13
  %35 = select(%34, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %36 = select(%35, dim=0, index=0) : f32[5,4]  @ parts_of_buffers.py:13
  %37 = transpose(%36, dim0=0, dim1=1) : f32[4,5]  @ parts_of_buffers.py:13
  %38 = slice(%37, end=3, start=1) : f32[2,5]  @ parts_of_buffers.py:13
  %39 = slice(%38, dim=1, end=2, start=0) : f32[2,2]  @ parts_of_buffers.py:13
  %40 = select(%34, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %41 = select(%40, dim=0, index=0) : f32[5,4]  @ parts_of_buffers.py:13
  %42 = transpose(%41, dim0=0, dim1=1) : f32[4,5]  @ parts_of_buffers.py:13
  %43 = slice(%42, end=3, start=1) : f32[2,5]  @ parts_of_buffers.py:13
  %44 = slice_scatter(%43, %39, dim=1, end=2, start=0) : f32[2,5]  @ parts_of_buffers.py:13
  %45 = slice_scatter(%42, %44, end=3, start=1) : f32[4,5]  @ parts_of_buffers.py:13
  %46 = transpose(%45, dim0=0, dim1=1) : f32[5,4]  @ parts_of_buffers.py:13
  %47 = select_scatter(%40, %46, dim=0, index=0) : f32[2,5,4]  @ parts_of_buffers.py:13
  %48 = select_scatter(%34, %47, dim=0, index=0) : f32[2,2,5,4]  @ parts_of_buffers.py:13
  %49 = index(%3, %1) : f32[3,8]  @ parts_of_buffers.py:14
  %50 = slice(%0, end=3, start=0) : f32[3,8]  @ parts_of_buffers.py:15
  %51 = add(%49, %50) : f32[3,8]  @ parts_of_buffers.py:15
  %52 = library(%3, %1, %51, args="{0}, 0, {1}, {2}", call="aten.index_add.default", types="f32[4,8]") : f32[4,8]  @ parts_of_buffers.py:15
  %53 = full(shape=[3], value=1.0) : f32[3]  @ parts_of_buffers.py:16
  %54 = library(%4, %1, %53, args="{0}, [{1}], {2}, True", call="aten.index_put.default", types="f32[4]") : f32[4]  @ parts_of_buffers.py:16
  %55 = slice(%54, end=9223372036854775807, start=2) : f32[2]  @ parts_of_buffers.py:17
  %56 = mul(%55, %6) : f32[2]  @ parts_of_buffers.py:17
  %57 = slice_scatter(%54, %56, end=9223372036854775807, start=2) : f32[4]  @ parts_of_buffers.py:17
  %58 = sum(%48, dim=[0]) : f32[2,5,4]  @ parts_of_buffers.py:18
  %59 = slice(%52, end=3, start=1) : f32[2,8]
  state "cache" = %48
  state "bank" = %52
  state "counts" = %57
  return %58, %49, %59, %57
}

program plain_attributes {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight" : f32[8,8]
  %2 = param "net.bias" : f32[8]
  %3 = buffer ".pair.0" : f32[4,8]
  %4 = buffer ".pair.1" : f32[4,8]
  %5 = buffer ".drawn" : f32[8]
  %6 = buffer ".total" : f32[]
  %7 = constant "gain" : f32[8]
  %8 = constant "2.0" : f32[]
  %9 = linear(%0, %1, %2) : f32[4,8]  @ plain_attributes.py:18
  %10 = mul(%3, %7) : f32[4,8]  @ plain_attributes.py:18
  %11 = add(%9, %10) : f32[4,8]  @ plain_attributes.py:18
  %12 = tanh(%11) : f32[4,8]  @ plain_attributes.py:18
  %13 = div(%12, %8) : f32[4,8]  @ plain_attributes.py:18
  %14 = add(%0, %5) : f32[4,8]  @ plain_attributes.py:19
  %15 = sum(%13) : f32[]  @ plain_attributes.py:20
  %16 = add(%6, %15) : f32[]  @ plain_attributes.py:20
  %17 = clone(%4) : f32[4,8]
  %18 = clone(%16) : f32[]
  state ".pair.0" = %13
  state ".pair.1" = %14
  state ".c.0" = %17
  state ".total" = %16
  return %18, %13
}

program rnn_relu {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight_ih_l0" : f32[5,8]
  %2 = param "net.weight_hh_l0" : f32[5,5]
  %3 = param "net.bias_ih_l0" : f32[5]
  %4 = param "net.bias_hh_l0" : f32[5]
  %5 = unsqueeze(%0, dim=1) : f32[4,1,8]  @ rnn_relu.py:10
  %6 = full(dtype=f32, shape=[1,1,5], value=0.0) : f32[1,1,5]  @ rnn_relu.py:10
  %7, %8 = rnn_relu(%5, %6, %1, %2, %3, %4, batch_first=false, bidirectional=false, has_biases=true, num_layers=1) : f32[4,1,5], f32[1,1,5]  @ rnn_relu.py:10
  %9 = squeeze(%7, dim=1) : f32[4,5]  @ rnn_relu.py:10
  %10 = squeeze(%8, dim=1) : f32[1,5]  @ rnn_relu.py:10
  return %9, %10
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

program transient_buffers {
  %0 = input "x" : f32[4,8]
  %1 = param "net.weight" : f32[8,8]
  %2 = param "net.bias" : f32[8]
  %3 = buffer "cache" : f32[4,3,8]
  %4 = buffer "steps" : f32[]
  %5 = buffer "table" : f32[8]
  %6 = buffer "cell.past" : f32[4,8]
  %7 = constant "1.0" : f32[]
  %8 = linear(%0, %1, %2) : f32[4,8]  @ transient_buffers.py:13
  %9 = unsqueeze(%8, dim=1) : f32[4,1,8]  @ transient_buffers.py:14
  %10 = slice_scatter(%3, %9, dim=1, end=3, start=2) : f32[4,3,8]  @ transient_buffers.py:14
  %11 = slice(%6, dim=1, end=9223372036854775807, start=4) : f32[4,4]  @ transient_buffers.py:15
  %12 = slice(%8, dim=1, end=4, start=0) : f32[4,4]  @ transient_buffers.py:15
  %13 = cat(%11, %12, dim=1) : f32[4,8]  @ transient_buffers.py:15
  %14 = arange(end=8.0) : f32[8]  @ transient_buffers.py:17
  %15 = add(%4, %7) : f32[]  @ transient_buffers.py:18
  %16 = sum(%10, dim=[1]) : f32[4,8]  @ transient_buffers.py:19
  %17 = mul(%16, %14) : f32[4,8]  @ transient_buffers.py:19
  %18 = mul(%13, %5) : f32[4,8]  @ transient_buffers.py:19
  %19 = div(%18, %15) : f32[4,8]  @ transient_buffers.py:19
  %20 = add(%17, %19) : f32[4,8]  @ transient_buffers.py:19
  state "cache" = %10
  state "steps" = %15
  state "cell.past" = %13
  return %20
}

