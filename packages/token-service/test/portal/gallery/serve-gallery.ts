// Serves every component of the portal: node --conditions=@tokenwell/source packages/token-service/test/portal/gallery/serve-gallery.ts
import '../../../../../tools/design/generate.ts'
import { createGallery } from './gallery.ts'

process.stdout.write(`${await createGallery().listen({ port: 4400 })}/ltr and /rtl\n`)
