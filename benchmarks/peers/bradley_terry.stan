// The bridged model with the rule `compressed`, flat and vectorised. Matrices are (contestant, judge), so
// that the table of strengths in Stan's order is the project's (judge, slot) table in rows.
data {
  int J; // judges
  int S; // scenes
  int C; // composites
  int F; // foundations
  int L; // intensities
  int K; // columns of the basis of configuration effects
  int N; // judgments
  array[S] int<lower=1> foundation;
  array[S] int<lower=1> level;
  vector[L] intensity;
  matrix[L, L - 1] off_line;
  array[C] int<lower=1> a;
  array[C] int<lower=1> b;
  matrix[C, F] member;
  matrix[C, K] config;
  matrix[J, J - 1] judge_basis;
  matrix[F, F - 1] foundation_basis;
  array[N] int<lower=1> first;
  array[N] int<lower=1> second;
  array[N] int<lower=1> judge;
  array[N] int<lower=0, upper=1> won;
  vector[13] spread_alpha;
  vector[13] spread_beta;
  vector[4] mean_mu;
  vector[4] mean_sigma;
  vector[2] ratio_mu;
  vector[2] ratio_sigma;
}
parameters {
  vector<lower=0>[13] spread;
  vector[4] mean_;
  vector<lower=0>[2] ratio;
  vector[F - 1] intensity_slope_z;
  matrix[F, L - 1] cell_z;
  vector[S] scene_level;
  vector[J - 1] consistency_deviation;
  matrix[S, J] judge_z;
  vector[J] beta_z;
  vector[J] alpha_z;
  vector[F - 1] gamma_z;
  matrix[F - 1, J] gamma_judge_z;
  vector[K] config_z;
  vector[C] profile_z;
  matrix[C, J] composite_z;
  vector[J] position_bias_judge;
}
model {
  vector[F] slopes = mean_[1] + spread[1] * (foundation_basis * intensity_slope_z);
  matrix[F, L] cells = slopes * intensity' + spread[2] * (cell_z * off_line');
  vector[S] cell;
  for (s in 1 : S) cell[s] = cells[foundation[s], level[s]];
  row_vector[J] consistency = exp(judge_basis * consistency_deviation)';
  matrix[S, J] own = spread[4] * judge_z;
  matrix[S, J] theta = (scene_level - mean(scene_level)) * consistency + own;
  row_vector[J] beta = (mean_[2] + spread[6] * beta_z)';
  row_vector[J] alpha = (mean_[3] + spread[12] * alpha_z)';
  vector[F] gamma = spread[7] * (foundation_basis * gamma_z);
  matrix[F, J] gamma_judge = rep_matrix(gamma, J) + spread[8] * (foundation_basis * gamma_judge_z);
  matrix[C, J] phi;
  for (j in 1 : J) theta[ : , j] -= mean(own[ : , j]);
  phi = rep_matrix(config * (spread[9] * config_z) + spread[10] * profile_z, J)
        + member * gamma_judge + spread[11] * composite_z + rep_matrix(alpha, C)
        + (theta[a] + theta[b]) .* rep_matrix(beta, C);
  vector[J * 2 * (S + C)] table = to_vector(
      append_row(append_row(theta, ratio[1] * phi), append_row(ratio[2] * theta, ratio[2] * phi)));

  spread ~ gamma(spread_alpha, spread_beta);
  mean_ ~ normal(mean_mu, mean_sigma);
  ratio ~ lognormal(ratio_mu, ratio_sigma);
  intensity_slope_z ~ std_normal();
  to_vector(cell_z) ~ std_normal();
  scene_level ~ normal(cell, spread[3]);
  consistency_deviation ~ normal(0, spread[5]);
  to_vector(judge_z) ~ std_normal();
  beta_z ~ std_normal();
  alpha_z ~ std_normal();
  gamma_z ~ std_normal();
  to_vector(gamma_judge_z) ~ std_normal();
  config_z ~ std_normal();
  profile_z ~ std_normal();
  to_vector(composite_z) ~ std_normal();
  position_bias_judge ~ normal(mean_[4], spread[13]);
  won ~ bernoulli_logit(table[first] - table[second] + position_bias_judge[judge]);
}
