// Run in a package's folder before it is built: what it no longer has must not be packed, or kept by Turbo.
import { rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
