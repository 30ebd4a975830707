// The generated functions send their requests with `apiFetch` of orval.ts.
export default {
  orders: {
    input: './orders.json',
    output: {
      client: 'fetch',
      target: './generated/orval.ts',
      override: { mutator: { path: './orval.ts', name: 'apiFetch', extension: '.ts' } },
    },
  },
}
