import { fileURLToPath } from 'node:url'

const workspace = fileURLToPath(new URL('../../../..', import.meta.url))

export default { turbopack: { root: workspace }, outputFileTracingRoot: workspace }
