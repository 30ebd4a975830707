// The generated files import each other with `.ts`, as Node requires.
export default {
  input: './orders.json',
  output: { path: 'generated/hey-api', module: { extension: '.ts' } },
}
