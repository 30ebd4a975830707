// Writes what the pages load from other packages: the portal is installed without those packages.
import { copyFile, mkdir } from 'node:fs/promises'

const oat = 'node_modules/@knadh/oat'

await mkdir('dist/assets', { recursive: true })
await copyFile(`${oat}/oat.min.css`, 'dist/assets/oat.css')
await copyFile(`${oat}/LICENSE`, 'dist/assets/oat.LICENSE')
