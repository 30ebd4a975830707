import { benchmarkContents } from './benchmark-files.ts'

/** A page for each file that the benchmarks have written. */
export default { paths: benchmarkContents }
