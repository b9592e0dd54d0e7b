# return x + 2 * x - x / 3
program call_0 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = constant "3.0" : f32[]
  %3 = mul(%0, %1) : f32[4,8]  @ call_0.py:7
  %4 = add(%0, %3) : f32[4,8]  @ call_0.py:7
  %5 = div(%0, %2) : f32[4,8]  @ call_0.py:7
  %6 = sub(%4, %5) : f32[4,8]  @ call_0.py:7
  return %6
}

# return torch.where(x > 0, x, -x)
program call_1 {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0" : f32[]
  %2 = gt(%0, %1) : b1[4,8]  @ call_1.py:7
  %3 = neg(%0) : f32[4,8]  @ call_1.py:7
  %4 = where(%2, %0, %3) : f32[4,8]  @ call_1.py:7
  return %4
}

# return x.clamp(-1, 1)
program call_2 {
  %0 = input "x" : f32[4,8]
  %1 = clamp(%0, max=1, min=-1) : f32[4,8]  @ call_2.py:7
  return %1
}

# return x.to(torch.float16).float()
program call_3 {
  %0 = input "x" : f32[4,8]
  %1 = to(%0, dtype=f16) : f16[4,8]  @ call_3.py:7
  %2 = to(%1, dtype=f32) : f32[4,8]  @ call_3.py:7
  return %2
}

# return (x > 0) & (x.abs() <= 1) | (x != x)
program call_4 {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0" : f32[]
  %2 = constant "1.0" : f32[]
  %3 = gt(%0, %1) : b1[4,8]  @ call_4.py:7
  %4 = abs(%0) : f32[4,8]  @ call_4.py:7
  %5 = le(%4, %2) : b1[4,8]  @ call_4.py:7
  %6 = bitwise_and(%3, %5) : b1[4,8]  @ call_4.py:7
  %7 = ne(%0, %0) : b1[4,8]  @ call_4.py:7
  %8 = bitwise_or(%6, %7) : b1[4,8]  @ call_4.py:7
  return %8
}

# return x.masked_fill(x < 0, float('-inf'))
program call_5 {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0" : f32[]
  %2 = constant "-inf" : f32[]
  %3 = lt(%0, %1) : b1[4,8]  @ call_5.py:7
  %4 = masked_fill(%0, %3, %2) : f32[4,8]  @ call_5.py:7
  return %4
}

# return F.gelu(x, approximate='tanh')
program call_6 {
  %0 = input "x" : f32[4,8]
  %1 = gelu(%0, approximate="tanh") : f32[4,8]  @ call_6.py:7
  return %1
}

# return F.hardswish(F.mish(F.elu(x)))
program call_7 {
  %0 = input "x" : f32[4,8]
  %1 = elu(%0, alpha=1.0) : f32[4,8]  @ call_7.py:7
  %2 = mish(%1) : f32[4,8]  @ call_7.py:7
  %3 = hardswish(%2) : f32[4,8]  @ call_7.py:7
  return %3
}

# return F.softplus(x) + F.silu(x) + F.hardtanh(x)
program call_8 {
  %0 = input "x" : f32[4,8]
  %1 = softplus(%0) : f32[4,8]  @ call_8.py:7
  %2 = silu(%0) : f32[4,8]  @ call_8.py:7
  %3 = add(%1, %2) : f32[4,8]  @ call_8.py:7
  %4 = hardtanh(%0, max_val=1.0, min_val=-1.0) : f32[4,8]  @ call_8.py:7
  %5 = add(%3, %4) : f32[4,8]  @ call_8.py:7
  return %5
}

# return torch.exp(x).log1p().sqrt().rsqrt() ** 2
program call_9 {
  %0 = input "x" : f32[4,8]
  %1 = exp(%0) : f32[4,8]  @ call_9.py:7
  %2 = log1p(%1) : f32[4,8]  @ call_9.py:7
  %3 = sqrt(%2) : f32[4,8]  @ call_9.py:7
  %4 = rsqrt(%3) : f32[4,8]  @ call_9.py:7
  %5 = pow_scalar(%4, exponent=2) : f32[4,8]  @ call_9.py:7
  return %5
}

# return x.sum(dim=1, keepdim=True)
program call_10 {
  %0 = input "x" : f32[4,8]
  %1 = sum(%0, dim=[1], keepdim=true) : f32[4,1]  @ call_10.py:7
  return %1
}

# return x.mean()
program call_11 {
  %0 = input "x" : f32[4,8]
  %1 = mean(%0) : f32[]  @ call_11.py:7
  return %1
}

# return x.prod(1)
program call_12 {
  %0 = input "x" : f32[4,8]
  %1 = prod(%0, dim=1) : f32[4]  @ call_12.py:7
  return %1
}

# return x.max(dim=1)[1]
program call_13 {
  %0 = input "x" : f32[4,8]
  %1, %2 = max_dim(%0, dim=1) : f32[4], i64[4]  @ call_13.py:7
  return %2
}

# return torch.amin(x, 0)
program call_14 {
  %0 = input "x" : f32[4,8]
  %1 = amin(%0, dim=[0]) : f32[8]  @ call_14.py:7
  return %1
}

# return x.argmax(1)
program call_15 {
  %0 = input "x" : f32[4,8]
  %1 = argmax(%0, dim=1) : i64[4]  @ call_15.py:7
  return %1
}

# return x.argmin()
program call_16 {
  %0 = input "x" : f32[4,8]
  %1 = argmin(%0) : i64[]  @ call_16.py:7
  return %1
}

# return x.var(1, unbiased=False)
program call_17 {
  %0 = input "x" : f32[4,8]
  %1 = var(%0, correction=false, dim=[1]) : f32[4]  @ call_17.py:7
  return %1
}

# return x.std()
program call_18 {
  %0 = input "x" : f32[4,8]
  %1 = std(%0) : f32[]  @ call_18.py:7
  return %1
}

# return torch.logsumexp(x, 1)
program call_19 {
  %0 = input "x" : f32[4,8]
  %1 = logsumexp(%0, dim=[1]) : f32[4]  @ call_19.py:7
  return %1
}

# return x.norm(dim=1)
program call_20 {
  %0 = input "x" : f32[4,8]
  %1 = vector_norm(%0, dim=[1]) : f32[4]  @ call_20.py:7
  return %1
}

# return F.normalize(x)
program call_21 {
  %0 = input "x" : f32[4,8]
  %1 = vector_norm(%0, dim=[1], keepdim=true, ord=2.0) : f32[4,1]  @ call_21.py:7
  %2 = clamp(%1, min=1e-12) : f32[4,1]  @ call_21.py:7
  %3 = expand(%2, size=[4,8]) : f32[4,8]  @ call_21.py:7
  %4 = div(%0, %3) : f32[4,8]  @ call_21.py:7
  return %4
}

# return F.softmax(x, -1)
program call_22 {
  %0 = input "x" : f32[4,8]
  %1 = softmax(%0, dim=-1) : f32[4,8]  @ call_22.py:7
  return %1
}

# return F.log_softmax(x, 1)
program call_23 {
  %0 = input "x" : f32[4,8]
  %1 = log_softmax(%0, dim=1) : f32[4,8]  @ call_23.py:7
  return %1
}

# return F.layer_norm(x, (8,))
program call_24 {
  %0 = input "x" : f32[4,8]
  %1 = layer_norm(%0, normalized_shape=[8]) : f32[4,8]  @ call_24.py:7
  return %1
}

# return F.group_norm(x[None], 2)
program call_25 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_25.py:7
  %2 = group_norm(%1, num_groups=2) : f32[1,4,8]  @ call_25.py:7
  return %2
}

# return F.instance_norm(x[None])
program call_26 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_26.py:7
  %2 = instance_norm(%1, eps=1e-05) : f32[1,4,8]  @ call_26.py:7
  return %2
}

# return F.rms_norm(x, (8,))
program call_27 {
  %0 = input "x" : f32[4,8]
  %1 = rms_norm(%0, normalized_shape=[8]) : f32[4,8]  @ call_27.py:7
  return %1
}

# return torch.mm(x, x.t())
program call_28 {
  %0 = input "x" : f32[4,8]
  %1 = t(%0) : f32[8,4]  @ call_28.py:7
  %2 = matmul(%0, %1) : f32[4,4]  @ call_28.py:7
  return %2
}

# return torch.bmm(x[None], x.t()[None])
program call_29 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_29.py:7
  %2 = t(%0) : f32[8,4]  @ call_29.py:7
  %3 = unsqueeze(%2, dim=0) : f32[1,8,4]  @ call_29.py:7
  %4 = matmul(%1, %3) : f32[1,4,4]  @ call_29.py:7
  return %4
}

# return torch.addmm(x, x, torch.eye(8))
program call_30 {
  %0 = input "x" : f32[4,8]
  %1 = eye(n=8) : f32[8,8]  @ call_30.py:7
  %2 = addmm(%0, %0, %1) : f32[4,8]  @ call_30.py:7
  return %2
}

# return F.linear(x, x)
program call_31 {
  %0 = input "x" : f32[4,8]
  %1 = linear(%0, %0) : f32[4,4]  @ call_31.py:7
  return %1
}

# return torch.matmul(x, x[0])
program call_32 {
  %0 = input "x" : f32[4,8]
  %1 = select(%0, dim=0, index=0) : f32[8]  @ call_32.py:7
  %2 = matmul(%0, %1) : f32[4]  @ call_32.py:7
  return %2
}

# return torch.einsum('ij,kj->ik', x, x)
program call_33 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=2) : f32[4,8,1]  @ call_33.py:7
  %2 = permute(%1, dims=[0,2,1]) : f32[4,1,8]  @ call_33.py:7
  %3 = unsqueeze(%0, dim=2) : f32[4,8,1]  @ call_33.py:7
  %4 = permute(%3, dims=[2,0,1]) : f32[1,4,8]  @ call_33.py:7
  %5 = permute(%2, dims=[0,2,1]) : f32[4,8,1]  @ call_33.py:7
  %6 = reshape(%5, shape=[1,4,8]) : f32[1,4,8]  @ call_33.py:7
  %7 = permute(%4, dims=[2,1,0]) : f32[8,4,1]  @ call_33.py:7
  %8 = reshape(%7, shape=[1,8,4]) : f32[1,8,4]  @ call_33.py:7
  %9 = matmul(%6, %8) : f32[1,4,4]  @ call_33.py:7
  %10 = reshape(%9, shape=[4,1,4]) : f32[4,1,4]  @ call_33.py:7
  %11 = permute(%10, dims=[0,2,1]) : f32[4,4,1]  @ call_33.py:7
  %12 = reshape(%11, shape=[4,4]) : f32[4,4]  @ call_33.py:7
  return %12
}

# return F.conv2d(x[None, None], torch.ones(3, 1, 2, 2), padding=1)
program call_34 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_34.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_34.py:7
  %3 = full(shape=[3,1,2,2], value=1.0) : f32[3,1,2,2]  @ call_34.py:7
  %4 = conv2d(%2, %3, padding=[1,1]) : f32[1,3,5,9]  @ call_34.py:7
  return %4
}

# return F.conv2d(x[None, None], torch.ones(3, 1, 2, 2), padding='same')
program call_35 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_35.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_35.py:7
  %3 = full(shape=[3,1,2,2], value=1.0) : f32[3,1,2,2]  @ call_35.py:7
  %4 = conv2d(%2, %3, padding="same") : f32[1,3,4,8]  @ call_35.py:7
  return %4
}

# return F.conv_transpose2d(x[None, None], torch.ones(1, 3, 2, 2), stride=2)
program call_36 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_36.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_36.py:7
  %3 = full(shape=[1,3,2,2], value=1.0) : f32[1,3,2,2]  @ call_36.py:7
  %4 = conv_transpose2d(%2, %3, stride=[2,2]) : f32[1,3,8,16]  @ call_36.py:7
  return %4
}

# return F.max_pool2d(x[None], 2)
program call_37 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_37.py:7
  %2 = max_pool2d(%1, kernel_size=[2,2]) : f32[1,2,4]  @ call_37.py:7
  return %2
}

# return F.avg_pool2d(x[None], 2)
program call_38 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_38.py:7
  %2 = avg_pool2d(%1, kernel_size=[2,2]) : f32[1,2,4]  @ call_38.py:7
  return %2
}

# return F.adaptive_avg_pool2d(x[None], 1)
program call_39 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_39.py:7
  %2 = adaptive_avg_pool2d(%1, output_size=[1,1]) : f32[1,1,1]  @ call_39.py:7
  return %2
}

# return torch.cumsum(x, 0)
program call_40 {
  %0 = input "x" : f32[4,8]
  %1 = cumsum(%0, dim=0) : f32[4,8]  @ call_40.py:7
  return %1
}

# return torch.cumprod(x, 1)
program call_41 {
  %0 = input "x" : f32[4,8]
  %1 = cumprod(%0, dim=1) : f32[4,8]  @ call_41.py:7
  return %1
}

# return x.permute(1, 0).reshape(-1)
program call_42 {
  %0 = input "x" : f32[4,8]
  %1 = permute(%0, dims=[1,0]) : f32[8,4]  @ call_42.py:7
  %2 = reshape(%1, shape=[32]) : f32[32]  @ call_42.py:7
  %3 = clone(%2) : f32[32]
  return %3
}

# return x.expand(3, 4, 8)
program call_43 {
  %0 = input "x" : f32[4,8]
  %1 = expand(%0, size=[3,4,8]) : f32[3,4,8]  @ call_43.py:7
  return %1
}

# return x[1:, ::2]
program call_44 {
  %0 = input "x" : f32[4,8]
  %1 = slice(%0, end=9223372036854775807, start=1) : f32[3,8]  @ call_44.py:7
  %2 = slice(%1, dim=1, end=9223372036854775807, start=0, step=2) : f32[3,4]  @ call_44.py:7
  return %2
}

# return torch.cat([x, x], 1)
program call_45 {
  %0 = input "x" : f32[4,8]
  %1 = cat(%0, %0, dim=1) : f32[4,16]  @ call_45.py:7
  return %1
}

# return sum(x.split(2, 1)) + sum(x.chunk(4, 1)) + x.unbind(1)[0][:, None]
program call_46 {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0" : f32[]
  %2 = slice(%0, dim=1, end=2, start=0) : f32[4,2]  @ call_46.py:7
  %3 = slice(%0, dim=1, end=4, start=2) : f32[4,2]  @ call_46.py:7
  %4 = slice(%0, dim=1, end=6, start=4) : f32[4,2]  @ call_46.py:7
  %5 = slice(%0, dim=1, end=8, start=6) : f32[4,2]  @ call_46.py:7
  %6 = add(%2, %1) : f32[4,2]  @ call_46.py:7
  %7 = add(%6, %3) : f32[4,2]  @ call_46.py:7
  %8 = add(%7, %4) : f32[4,2]  @ call_46.py:7
  %9 = add(%8, %5) : f32[4,2]  @ call_46.py:7
  %10 = slice(%0, dim=1, end=2, start=0) : f32[4,2]  @ call_46.py:7
  %11 = slice(%0, dim=1, end=4, start=2) : f32[4,2]  @ call_46.py:7
  %12 = slice(%0, dim=1, end=6, start=4) : f32[4,2]  @ call_46.py:7
  %13 = slice(%0, dim=1, end=8, start=6) : f32[4,2]  @ call_46.py:7
  %14 = add(%10, %1) : f32[4,2]  @ call_46.py:7
  %15 = add(%14, %11) : f32[4,2]  @ call_46.py:7
  %16 = add(%15, %12) : f32[4,2]  @ call_46.py:7
  %17 = add(%16, %13) : f32[4,2]  @ call_46.py:7
  %18 = add(%9, %17) : f32[4,2]  @ call_46.py:7
  %19 = select(%0, dim=1, index=0) : f32[4]  @ call_46.py:7
  %20 = unsqueeze(%19, dim=1) : f32[4,1]  @ call_46.py:7
  %21 = add(%18, %20) : f32[4,2]  @ call_46.py:7
  return %21
}

# return F.pad(x, (1, 2))
program call_47 {
  %0 = input "x" : f32[4,8]
  %1 = pad(%0, pad=[1,2]) : f32[4,11]  @ call_47.py:7
  return %1
}

# return F.pad(x, (1, 2), mode='reflect')
program call_48 {
  %0 = input "x" : f32[4,8]
  %1 = pad(%0, mode="reflect", pad=[1,2]) : f32[4,11]  @ call_48.py:7
  return %1
}

# return torch.flip(x, (0,))
program call_49 {
  %0 = input "x" : f32[4,8]
  %1 = flip(%0, dims=[0]) : f32[4,8]  @ call_49.py:7
  return %1
}

# return x.roll(1, 0) + torch.tril(x)
program call_50 {
  %0 = input "x" : f32[4,8]
  %1 = roll(%0, dims=[0], shifts=[1]) : f32[4,8]  @ call_50.py:7
  %2 = tril(%0) : f32[4,8]  @ call_50.py:7
  %3 = add(%1, %2) : f32[4,8]  @ call_50.py:7
  return %3
}

# return F.embedding(x.argmax(0), x)
program call_51 {
  %0 = input "x" : f32[4,8]
  %1 = argmax(%0, dim=0) : i64[8]  @ call_51.py:7
  %2 = embedding(%0, %1) : f32[8,8]  @ call_51.py:7
  return %2
}

# return x.gather(1, x.argsort(1))
program call_52 {
  %0 = input "x" : f32[4,8]
  %1 = library(%0, args="{0}, 1", call="aten.argsort.default", types="i64[4,8]") : i64[4,8]  @ call_52.py:7
  %2 = gather(%0, %1, dim=1) : f32[4,8]  @ call_52.py:7
  return %2
}

# return F.scaled_dot_product_attention(x[None], x[None], x[None])
program call_53 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_53.py:7
  %2 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_53.py:7
  %3 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_53.py:7
  %4 = scaled_dot_product_attention(%1, %2, %3) : f32[1,4,8]  @ call_53.py:7
  return %4
}

# return F.mse_loss(x, x * 2)
program call_54 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = mul(%0, %1) : f32[4,8]  @ call_54.py:7
  %3 = mse_loss(%0, %2) : f32[]  @ call_54.py:7
  return %3
}

# return F.cross_entropy(x, x.argmax(1))
program call_55 {
  %0 = input "x" : f32[4,8]
  %1 = argmax(%0, dim=1) : i64[4]  @ call_55.py:7
  %2 = cross_entropy(%0, %1) : f32[]  @ call_55.py:7
  return %2
}

# return F.huber_loss(x, x * 3)
program call_56 {
  %0 = input "x" : f32[4,8]
  %1 = constant "3.0" : f32[]
  %2 = mul(%0, %1) : f32[4,8]  @ call_56.py:7
  %3 = huber_loss(%0, %2) : f32[]  @ call_56.py:7
  return %3
}

# return F.kl_div(x, x.exp(), reduction='batchmean')
program call_57 {
  %0 = input "x" : f32[4,8]
  %1 = constant "4.0" : f32[]
  %2 = exp(%0) : f32[4,8]  @ call_57.py:7
  %3 = kl_div(%0, %2, reduction=2) : f32[]  @ call_57.py:7
  %4 = div(%3, %1) : f32[]  @ call_57.py:7
  return %4
}

# return F.interpolate(x[None, None], scale_factor=2)
program call_58 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_58.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_58.py:7
  %3 = upsample_nearest(%2, factors=[2,2]) : f32[1,1,8,16]  @ call_58.py:7
  return %3
}

# return torch.topk(x, 3)[1]
program call_59 {
  %0 = input "x" : f32[4,8]
  %1, %2 = topk(%0, k=3) : f32[4,3], i64[4,3]  @ call_59.py:7
  return %2
}

# return F.max_pool1d(x[None], 2, return_indices=True)
program call_60 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_60.py:7
  %2, %3 = max_pool1d_with_indices(%1, kernel_size=[2]) : f32[1,4,4], i64[1,4,4]  @ call_60.py:7
  return %2, %3
}

# return F.adaptive_max_pool2d(x[None], (3, 5), return_indices=True)
program call_61 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_61.py:7
  %2, %3 = adaptive_max_pool2d(%1, output_size=[3,5]) : f32[1,3,5], i64[1,3,5]  @ call_61.py:7
  return %2, %3
}

# return F.adaptive_avg_pool1d(x[None], 3)
program call_62 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_62.py:7
  %2 = adaptive_avg_pool1d(%1, output_size=[3]) : f32[1,4,3]  @ call_62.py:7
  return %2
}

# return F.gaussian_nll_loss(x, x * 2, x.abs(), full=True)
program call_63 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = constant "0.5" : f32[]
  %3 = constant "0.9189385332046727" : f32[]
  %4 = mul(%0, %1) : f32[4,8]  @ call_63.py:7
  %5 = abs(%0) : f32[4,8]  @ call_63.py:7
  %6 = clamp(%5, min=1e-06) : f32[4,8]  @ call_63.py:7
  %7 = log(%6) : f32[4,8]  @ call_63.py:7
  %8 = sub(%0, %4) : f32[4,8]  @ call_63.py:7
  %9 = pow_scalar(%8, exponent=2) : f32[4,8]  @ call_63.py:7
  %10 = div(%9, %6) : f32[4,8]  @ call_63.py:7
  %11 = add(%7, %10) : f32[4,8]  @ call_63.py:7
  %12 = mul(%11, %2) : f32[4,8]  @ call_63.py:7
  %13 = add(%12, %3) : f32[4,8]  @ call_63.py:7
  %14 = mean(%13) : f32[]  @ call_63.py:7
  return %14
}

# return F.poisson_nll_loss(x, x.exp(), full=True)
program call_64 {
  %0 = input "x" : f32[4,8]
  %1 = constant "6.283185307179586" : f32[]
  %2 = constant "0.5" : f32[]
  %3 = constant "1.0" : f32[]
  %4 = constant "0.0" : f32[]
  %5 = exp(%0) : f32[4,8]  @ call_64.py:7
  %6 = mul(%5, %0) : f32[4,8]  @ call_64.py:7
  %7 = exp(%0) : f32[4,8]  @ call_64.py:7
  %8 = sub(%7, %6) : f32[4,8]  @ call_64.py:7
  %9 = mul(%5, %1) : f32[4,8]  @ call_64.py:7
  %10 = log(%9) : f32[4,8]  @ call_64.py:7
  %11 = mul(%10, %2) : f32[4,8]  @ call_64.py:7
  %12 = log(%5) : f32[4,8]  @ call_64.py:7
  %13 = mul(%5, %12) : f32[4,8]  @ call_64.py:7
  %14 = sub(%13, %5) : f32[4,8]  @ call_64.py:7
  %15 = add(%14, %11) : f32[4,8]  @ call_64.py:7
  %16 = le(%5, %3) : b1[4,8]  @ call_64.py:7
  %17 = masked_fill(%15, %16, %4) : f32[4,8]  @ call_64.py:7
  %18 = add(%8, %17) : f32[4,8]  @ call_64.py:7
  %19 = mean(%18) : f32[]  @ call_64.py:7
  return %19
}

# return F.margin_ranking_loss(x, x * 2, x.sign(), 0.5)
program call_65 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = constant "0.5" : f32[]
  %3 = mul(%0, %1) : f32[4,8]  @ call_65.py:7
  %4 = sign(%0) : f32[4,8]  @ call_65.py:7
  %5 = sub(%0, %3) : f32[4,8]  @ call_65.py:7
  %6 = neg(%4) : f32[4,8]  @ call_65.py:7
  %7 = mul(%6, %5) : f32[4,8]  @ call_65.py:7
  %8 = add(%7, %2) : f32[4,8]  @ call_65.py:7
  %9 = clamp(%8, min=0) : f32[4,8]  @ call_65.py:7
  %10 = mean(%9) : f32[]  @ call_65.py:7
  return %10
}

# return F.soft_margin_loss(x, x.sign()) + F.multi_margin_loss(x, x.argmax(1))
program call_66 {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.0" : f32[]
  %2 = constant "0.0" : f32[]
  %3 = sign(%0) : f32[4,8]  @ call_66.py:7
  %4 = soft_margin_loss(%0, %3) : f32[]  @ call_66.py:7
  %5 = argmax(%0, dim=1) : i64[4]  @ call_66.py:7
  %6 = unsqueeze(%5, dim=1) : i64[4,1]  @ call_66.py:7
  %7 = gather(%0, %6, dim=1) : f32[4,1]  @ call_66.py:7
  %8 = rsub(%7, %1) : f32[4,1]  @ call_66.py:7
  %9 = add(%8, %0) : f32[4,8]  @ call_66.py:7
  %10 = clamp(%9, min=0) : f32[4,8]  @ call_66.py:7
  %11 = arange(end=8) : i64[8]  @ call_66.py:7
  %12 = ne(%11, %6) : b1[4,8]  @ call_66.py:7
  %13 = where(%12, %10, %2) : f32[4,8]  @ call_66.py:7
  %14 = mean(%13) : f32[]  @ call_66.py:7
  %15 = add(%4, %14) : f32[]  @ call_66.py:7
  return %15
}

# return F.multilabel_margin_loss(x, x.argsort(1)) + F.multilabel_soft_margin_loss(x, x.sigmoid())
program call_67 {
  %0 = input "x" : f32[4,8]
  %1 = constant "1.0" : f32[]
  %2 = constant "8.0" : f32[]
  %3 = library(%0, args="{0}, 1", call="aten.argsort.default", types="i64[4,8]") : i64[4,8]  @ call_67.py:7
  %4 = library(%0, %3, args="{0}, {1}", call="aten.multilabel_margin_loss.default", types="f32[]") : f32[]  @ call_67.py:7
  %5 = sigmoid(%0) : f32[4,8]  @ call_67.py:7
  %6 = log_sigmoid(%0) : f32[4,8]  @ call_67.py:7
  %7 = mul(%5, %6) : f32[4,8]  @ call_67.py:7
  %8 = rsub(%5, %1) : f32[4,8]  @ call_67.py:7
  %9 = neg(%0) : f32[4,8]  @ call_67.py:7
  %10 = log_sigmoid(%9) : f32[4,8]  @ call_67.py:7
  %11 = mul(%8, %10) : f32[4,8]  @ call_67.py:7
  %12 = add(%7, %11) : f32[4,8]  @ call_67.py:7
  %13 = neg(%12) : f32[4,8]  @ call_67.py:7
  %14 = sum(%13, dim=[1]) : f32[4]  @ call_67.py:7
  %15 = div(%14, %2) : f32[4]  @ call_67.py:7
  %16 = mean(%15) : f32[]  @ call_67.py:7
  %17 = add(%4, %16) : f32[]  @ call_67.py:7
  return %17
}

# return F.cosine_embedding_loss(x, x.flip(1), x[:, 0].sign(), 0.2)
program call_68 {
  %0 = input "x" : f32[4,8]
  %1 = flip(%0, dims=[1]) : f32[4,8]  @ call_68.py:7
  %2 = select(%0, dim=1, index=0) : f32[4]  @ call_68.py:7
  %3 = sign(%2) : f32[4]  @ call_68.py:7
  %4 = cosine_embedding_loss(%0, %1, %3, margin=0.2) : f32[]  @ call_68.py:7
  return %4
}

# return F.triplet_margin_loss(x, x * 2, x.flip(0), p=1.0, swap=True)
program call_69 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = mul(%0, %1) : f32[4,8]  @ call_69.py:7
  %3 = flip(%0, dims=[0]) : f32[4,8]  @ call_69.py:7
  %4 = triplet_margin_loss(%0, %2, %3, p=1.0, swap=true) : f32[]  @ call_69.py:7
  return %4
}

# return F.pairwise_distance(x, x.flip(1)) + torch.cdist(x, x)[0]
program call_70 {
  %0 = input "x" : f32[4,8]
  %1 = constant "1e-06" : f32[]
  %2 = flip(%0, dims=[1]) : f32[4,8]  @ call_70.py:7
  %3 = sub(%0, %2) : f32[4,8]  @ call_70.py:7
  %4 = add(%3, %1) : f32[4,8]  @ call_70.py:7
  %5 = vector_norm(%4, dim=[1], ord=2.0) : f32[4]  @ call_70.py:7
  %6 = cdist(%0, %0) : f32[4,4]  @ call_70.py:7
  %7 = select(%6, dim=0, index=0) : f32[4]  @ call_70.py:7
  %8 = add(%5, %7) : f32[4]  @ call_70.py:7
  return %8
}

# return x.scatter(1, x.argsort(1), x * 2) + x.scatter_add(1, x.argsort(1), x)
program call_71 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2.0" : f32[]
  %2 = library(%0, args="{0}, 1", call="aten.argsort.default", types="i64[4,8]") : i64[4,8]  @ call_71.py:7
  %3 = mul(%0, %1) : f32[4,8]  @ call_71.py:7
  %4 = library(%0, %2, %3, args="{0}, 1, {1}, {2}", call="aten.scatter.src", types="f32[4,8]") : f32[4,8]  @ call_71.py:7
  %5 = library(%0, args="{0}, 1", call="aten.argsort.default", types="i64[4,8]") : i64[4,8]  @ call_71.py:7
  %6 = library(%0, %5, args="{0}, 1, {1}, {0}", call="aten.scatter_add.default", types="f32[4,8]") : f32[4,8]  @ call_71.py:7
  %7 = add(%4, %6) : f32[4,8]  @ call_71.py:7
  return %7
}

# return x.scatter_reduce(1, x.argsort(1), x, 'amax')
program call_72 {
  %0 = input "x" : f32[4,8]
  %1 = library(%0, args="{0}, 1", call="aten.argsort.default", types="i64[4,8]") : i64[4,8]  @ call_72.py:7
  %2 = library(%0, %1, args="{0}, 1, {1}, {0}, 'amax'", call="aten.scatter_reduce.two", types="f32[4,8]") : f32[4,8]  @ call_72.py:7
  return %2
}

# return x.index_add(0, x.argmax(0)[:2] // 4, x[:2]) + x.index_copy(0, torch.tensor([2, 0]), x[:2])
program call_73 {
  %0 = input "x" : f32[4,8]
  %1 = constant "2 0" : i64[2]
  %2 = constant "4" : i64[]
  %3 = argmax(%0, dim=0) : i64[8]  @ call_73.py:7
  %4 = slice(%3, end=2, start=0) : i64[2]  @ call_73.py:7
  %5 = floor_divide(%4, %2) : i64[2]  @ call_73.py:7
  %6 = slice(%0, end=2, start=0) : f32[2,8]  @ call_73.py:7
  %7 = library(%0, %5, %6, args="{0}, 0, {1}, {2}", call="aten.index_add.default", types="f32[4,8]") : f32[4,8]  @ call_73.py:7
  %8 = slice(%0, end=2, start=0) : f32[2,8]  @ call_73.py:7
  %9 = library(%0, %1, %8, args="{0}, 0, {1}, {2}", call="aten.index_copy.default", types="f32[4,8]") : f32[4,8]  @ call_73.py:7
  %10 = add(%7, %9) : f32[4,8]  @ call_73.py:7
  return %10
}

# return x.index_put((torch.tensor([1, 1]),), x[:2], accumulate=True)
program call_74 {
  %0 = input "x" : f32[4,8]
  %1 = constant "1 1" : i64[2]
  %2 = slice(%0, end=2, start=0) : f32[2,8]  @ call_74.py:7
  %3 = library(%0, %1, %2, args="{0}, [{1}], {2}, True", call="aten.index_put.default", types="f32[4,8]") : f32[4,8]  @ call_74.py:7
  return %3
}

# return x.masked_select(x > 0).sum() + torch.bucketize(x, torch.tensor([0.0, 1.0]))
program call_75 {
  %0 = input "x" : f32[4,8]
  %1 = constant "0.0 1.0" : f32[2]
  %2 = constant "0.0" : f32[]
  %3 = gt(%0, %2) : b1[4,8]  @ call_75.py:7
  %4 = library(%0, %3, args="torch.ops.aten.masked_select.default({0}, {1})", call="aten.sum.default", types="f32[]") : f32[]  @ call_75.py:7
  %5 = library(%0, %1, args="{0}, {1}", call="aten.bucketize.Tensor", types="i64[4,8]") : i64[4,8]  @ call_75.py:7
  %6 = add(%4, %5) : f32[4,8]  @ call_75.py:7
  return %6
}

# return x.sort(1, descending=True)
program call_76 {
  %0 = input "x" : f32[4,8]
  %1, %2 = library(%0, args="{0}, 1, True", call="aten.sort.default", types="f32[4,8] i64[4,8]") : f32[4,8], i64[4,8]  @ call_76.py:7
  return %1, %2
}

# return torch.triu(x, 1) + torch.tril(x, -2)
program call_77 {
  %0 = input "x" : f32[4,8]
  %1 = triu(%0, diagonal=1) : f32[4,8]  @ call_77.py:7
  %2 = tril(%0, diagonal=-2) : f32[4,8]  @ call_77.py:7
  %3 = add(%1, %2) : f32[4,8]  @ call_77.py:7
  return %3
}

# return torch.stack([x, x.roll(3)], 1).tensor_split(3, 2)
program call_78 {
  %0 = input "x" : f32[4,8]
  %1 = roll(%0, shifts=[3]) : f32[4,8]  @ call_78.py:7
  %2 = stack(%0, %1, dim=1) : f32[4,2,8]  @ call_78.py:7
  %3 = slice(%2, dim=2, end=3, start=0) : f32[4,2,3]  @ call_78.py:7
  %4 = slice(%2, dim=2, end=6, start=3) : f32[4,2,3]  @ call_78.py:7
  %5 = slice(%2, dim=2, end=8, start=6) : f32[4,2,2]  @ call_78.py:7
  return %3, %4, %5
}

# return F.unfold(x[None, None], 3, padding=1), x.unfold(1, 3, 2)
program call_79 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_79.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_79.py:7
  %3 = im2col(%2, dilation=[1,1], kernel_size=[3,3], padding=[1,1], stride=[1,1]) : f32[1,9,32]  @ call_79.py:7
  %4 = unfold(%0, dimension=1, size=3, step=2) : f32[4,3,3]  @ call_79.py:7
  return %3, %4
}

# return F.fold(x[None], (3, 5), (2, 2))
program call_80 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_80.py:7
  %2 = col2im(%1, dilation=[1,1], kernel_size=[2,2], output_size=[3,5], padding=[0,0], stride=[1,1]) : f32[1,1,3,5]  @ call_80.py:7
  return %2
}

# return torch.einsum('ij,kj,k->i', x, x, x[:, 0])
program call_81 {
  %0 = input "x" : f32[4,8]
  %1 = select(%0, dim=1, index=0) : f32[4]  @ call_81.py:7
  %2 = unsqueeze(%0, dim=2) : f32[4,8,1]  @ call_81.py:7
  %3 = unsqueeze(%0, dim=2) : f32[4,8,1]  @ call_81.py:7
  %4 = permute(%3, dims=[2,1,0]) : f32[1,8,4]  @ call_81.py:7
  %5 = unsqueeze(%1, dim=1) : f32[4,1]  @ call_81.py:7
  %6 = unsqueeze(%5, dim=2) : f32[4,1,1]  @ call_81.py:7
  %7 = permute(%6, dims=[1,2,0]) : f32[1,1,4]  @ call_81.py:7
  %8 = reshape(%2, shape=[1,4,8]) : f32[1,4,8]  @ call_81.py:7
  %9 = permute(%4, dims=[1,2,0]) : f32[8,4,1]  @ call_81.py:7
  %10 = reshape(%9, shape=[1,8,4]) : f32[1,8,4]  @ call_81.py:7
  %11 = matmul(%8, %10) : f32[1,4,4]  @ call_81.py:7
  %12 = reshape(%11, shape=[4,1,4]) : f32[4,1,4]  @ call_81.py:7
  %13 = permute(%12, dims=[0,2,1]) : f32[4,4,1]  @ call_81.py:7
  %14 = reshape(%13, shape=[1,4,4]) : f32[1,4,4]  @ call_81.py:7
  %15 = permute(%7, dims=[2,1,0]) : f32[4,1,1]  @ call_81.py:7
  %16 = reshape(%15, shape=[1,4,1]) : f32[1,4,1]  @ call_81.py:7
  %17 = matmul(%14, %16) : f32[1,4,1]  @ call_81.py:7
  %18 = reshape(%17, shape=[4,1,1]) : f32[4,1,1]  @ call_81.py:7
  %19 = reshape(%18, shape=[4]) : f32[4]  @ call_81.py:7
  return %19
}

# return x.cummax(1)[0] + x.cummin(1)[0] + x.logcumsumexp(1)
program call_82 {
  %0 = input "x" : f32[4,8]
  %1, %2 = library(%0, args="{0}, 1", call="aten.cummax.default", types="f32[4,8] i64[4,8]") : f32[4,8], i64[4,8]  @ call_82.py:7
  %3, %4 = library(%0, args="{0}, 1", call="aten.cummin.default", types="f32[4,8] i64[4,8]") : f32[4,8], i64[4,8]  @ call_82.py:7
  %5 = add(%1, %3) : f32[4,8]  @ call_82.py:7
  %6 = library(%0, args="{0}, 1", call="aten.logcumsumexp.default", types="f32[4,8]") : f32[4,8]  @ call_82.py:7
  %7 = add(%5, %6) : f32[4,8]  @ call_82.py:7
  return %7
}

# return x * torch.linspace(0, 1, 8) + torch.meshgrid(x[:, 0], x[0], indexing='ij')[1]
program call_83 {
  %0 = input "x" : f32[4,8]
  %1 = linspace(end=1, start=0, steps=8) : f32[8]  @ call_83.py:7
  %2 = mul(%0, %1) : f32[4,8]  @ call_83.py:7
  %3 = select(%0, dim=0, index=0) : f32[8]  @ call_83.py:7
  %4 = reshape(%3, shape=[1,-1]) : f32[1,8]  @ call_83.py:7
  %5 = expand(%4, size=[4,8]) : f32[4,8]  @ call_83.py:7
  %6 = add(%2, %5) : f32[4,8]  @ call_83.py:7
  return %6
}

# return x.rot90(1, [0, 1]), torch.kron(x[:2, :2], x), torch.diff(x), torch.inner(x, x)
program call_84 {
  %0 = input "x" : f32[4,8]
  %1 = rot90(%0) : f32[8,4]  @ call_84.py:7
  %2 = slice(%0, end=2, start=0) : f32[2,8]  @ call_84.py:7
  %3 = slice(%2, dim=1, end=2, start=0) : f32[2,2]  @ call_84.py:7
  %4 = reshape(%3, shape=[2,1,2,1]) : f32[2,1,2,1]  @ call_84.py:7
  %5 = reshape(%0, shape=[1,4,1,8]) : f32[1,4,1,8]  @ call_84.py:7
  %6 = mul(%4, %5) : f32[2,4,2,8]  @ call_84.py:7
  %7 = reshape(%6, shape=[8,16]) : f32[8,16]  @ call_84.py:7
  %8 = slice(%0, dim=-1, end=7, start=0) : f32[4,7]  @ call_84.py:7
  %9 = slice(%0, dim=-1, end=8, start=1) : f32[4,7]  @ call_84.py:7
  %10 = sub(%9, %8) : f32[4,7]  @ call_84.py:7
  %11 = permute(%0, dims=[-1,0]) : f32[8,4]  @ call_84.py:7
  %12 = matmul(%0, %11) : f32[4,4]  @ call_84.py:7
  return %1, %7, %10, %12
}

# return torch.linalg.cross(x[:, :3], x[:, 3:6]), torch.diag(x), torch.diag_embed(x, 1), torch.trace(x)
program call_85 {
  %0 = input "x" : f32[4,8]
  %1 = slice(%0, dim=1, end=3, start=0) : f32[4,3]  @ call_85.py:7
  %2 = slice(%0, dim=1, end=6, start=3) : f32[4,3]  @ call_85.py:7
  %3 = cross(%1, %2) : f32[4,3]  @ call_85.py:7
  %4 = diag(%0) : f32[4]  @ call_85.py:7
  %5 = diag_embed(%0, offset=1) : f32[4,9,9]  @ call_85.py:7
  %6 = trace(%0) : f32[]  @ call_85.py:7
  return %3, %4, %5, %6
}

# return F.bilinear(x, x, torch.ones(3, 8, 8)), torch.addbmm(x[:, :4], x[None], x.t()[None])
program call_86 {
  %0 = input "x" : f32[4,8]
  %1 = full(shape=[3,8,8], value=1.0) : f32[3,8,8]  @ call_86.py:7
  %2 = bilinear(%0, %0, %1) : f32[4,3]  @ call_86.py:7
  %3 = slice(%0, dim=1, end=4, start=0) : f32[4,4]  @ call_86.py:7
  %4 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_86.py:7
  %5 = t(%0) : f32[8,4]  @ call_86.py:7
  %6 = unsqueeze(%5, dim=0) : f32[1,8,4]  @ call_86.py:7
  %7 = addbmm(%3, %4, %6) : f32[4,4]  @ call_86.py:7
  return %2, %7
}

# return F.local_response_norm(x[None], 3), F.channel_shuffle(x[None], 2)
program call_87 {
  %0 = input "x" : f32[4,8]
  %1 = constant "1e-04" : f32[]
  %2 = constant "1.0" : f32[]
  %3 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_87.py:7
  %4 = mul(%3, %3) : f32[1,4,8]  @ call_87.py:7
  %5 = unsqueeze(%4, dim=1) : f32[1,1,4,8]  @ call_87.py:7
  %6 = pad(%5, pad=[0,0,1,1]) : f32[1,1,6,8]  @ call_87.py:7
  %7 = avg_pool2d(%6, kernel_size=[3,1], stride=[1,1]) : f32[1,1,4,8]  @ call_87.py:7
  %8 = squeeze(%7, dim=1) : f32[1,4,8]  @ call_87.py:7
  %9 = mul(%8, %1) : f32[1,4,8]  @ call_87.py:7
  %10 = add(%9, %2) : f32[1,4,8]  @ call_87.py:7
  %11 = pow_scalar(%10, exponent=0.75) : f32[1,4,8]  @ call_87.py:7
  %12 = div(%3, %11) : f32[1,4,8]  @ call_87.py:7
  %13 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_87.py:7
  %14 = channel_shuffle(%13, groups=2) : f32[1,4,8]  @ call_87.py:7
  return %12, %14
}

# return F.interpolate(x[None, None], scale_factor=1.5, mode='bilinear')
program call_88 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_88.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_88.py:7
  %3 = upsample_linear(%2, align_corners=false, factor0=1.5, factor1=1.5) : f32[1,1,6,12]  @ call_88.py:7
  return %3
}

# return F.interpolate(x[None, None], size=(5, 11), mode='bicubic', align_corners=True)
program call_89 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_89.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_89.py:7
  %3 = upsample_cubic(%2, align_corners=true, size=[5,11]) : f32[1,1,5,11]  @ call_89.py:7
  return %3
}

# return F.interpolate(x[None, None], size=(3, 11)), F.interpolate(x[None], size=3, mode='linear')
program call_90 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_90.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_90.py:7
  %3 = upsample_nearest_any(%2, size=[3,11]) : f32[1,1,3,11]  @ call_90.py:7
  %4 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_90.py:7
  %5 = upsample_linear(%4, align_corners=false, size=[3]) : f32[1,4,3]  @ call_90.py:7
  return %3, %5
}

# return F.grid_sample(x[None, None], x.reshape(1, 4, 4, 2), align_corners=False)
program call_91 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_91.py:7
  %2 = unsqueeze(%1, dim=1) : f32[1,1,4,8]  @ call_91.py:7
  %3 = reshape(%0, shape=[1,4,4,2]) : f32[1,4,4,2]  @ call_91.py:7
  %4 = grid_sample(%2, %3, align_corners=false, interpolation_mode=0, padding_mode=0) : f32[1,1,4,4]  @ call_91.py:7
  return %4
}

# return F.embedding_bag(x.argmax(0)[None], x), F.softmin(x, 1)
program call_92 {
  %0 = input "x" : f32[4,8]
  %1 = argmax(%0, dim=0) : i64[8]  @ call_92.py:7
  %2 = unsqueeze(%1, dim=0) : i64[1,8]  @ call_92.py:7
  %3 = reshape(%2, shape=[-1]) : i64[8]  @ call_92.py:7
  %4 = embedding_bag(%0, %3, bag=8, mode=1) : f32[1,8]  @ call_92.py:7
  %5 = neg(%0) : f32[4,8]  @ call_92.py:7
  %6 = softmax(%5, dim=1) : f32[4,8]  @ call_92.py:7
  return %4, %6
}

# return F.instance_norm(x[None], x[:, 0], x[:, 1].exp(), use_input_stats=False)
program call_93 {
  %0 = input "x" : f32[4,8]
  %1 = unsqueeze(%0, dim=0) : f32[1,4,8]  @ call_93.py:7
  %2 = select(%0, dim=1, index=0) : f32[4]  @ call_93.py:7
  %3 = select(%0, dim=1, index=1) : f32[4]  @ call_93.py:7
  %4 = exp(%3) : f32[4]  @ call_93.py:7
  %5 = batch_norm(%1, none, none, %2, %4, eps=1e-05) : f32[1,4,8]  @ call_93.py:7
  return %5
}

# return torch.asinh(x).cosh() + torch.erfc(x) + torch.copysign(x, -x) + torch.signbit(x)
program call_94 {
  %0 = input "x" : f32[4,8]
  %1 = asinh(%0) : f32[4,8]  @ call_94.py:7
  %2 = cosh(%1) : f32[4,8]  @ call_94.py:7
  %3 = erfc(%0) : f32[4,8]  @ call_94.py:7
  %4 = add(%2, %3) : f32[4,8]  @ call_94.py:7
  %5 = neg(%0) : f32[4,8]  @ call_94.py:7
  %6 = copysign(%0, %5) : f32[4,8]  @ call_94.py:7
  %7 = add(%4, %6) : f32[4,8]  @ call_94.py:7
  %8 = signbit(%0) : b1[4,8]  @ call_94.py:7
  %9 = add(%7, %8) : f32[4,8]  @ call_94.py:7
  return %9
}

# return x.count_nonzero(1) + x.nansum(1) + torch.aminmax(x, dim=1)[0]
program call_95 {
  %0 = input "x" : f32[4,8]
  %1 = count_nonzero(%0, dim=1) : i64[4]  @ call_95.py:7
  %2 = nansum(%0, dim=[1]) : f32[4]  @ call_95.py:7
  %3 = add(%1, %2) : f32[4]  @ call_95.py:7
  %4, %5 = aminmax(%0, dim=1) : f32[4], f32[4]  @ call_95.py:7
  %6 = add(%3, %4) : f32[4]  @ call_95.py:7
  return %6
}

