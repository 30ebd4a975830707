import { fileURLToPath } from 'node:url'

/** The project's root. */
export const root = fileURLToPath(new URL('../../', import.meta.url))
/** Where the site's pages are. */
export const docs = fileURLToPath(new URL('../', import.meta.url))
/** Blocks are compiled and run below it, where all of a reader's packages are installed. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
