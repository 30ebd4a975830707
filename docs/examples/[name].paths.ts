import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../examples/', import.meta.url)

/** A page for each file in `examples/`. */
export default {
  paths: () =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => {
        const name = file.replace('.ts', '')
        const source = readFileSync(new URL(file, folder), 'utf8')
        const content = `# examples/${file}\n\nRun it with \`pnpm example ${name}\`.\n\n\`\`\`ts\n${source}\`\`\`\n`
        return { params: { name }, content }
      }),
}
