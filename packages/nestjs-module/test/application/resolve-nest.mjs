import { registerHooks } from 'node:module'

// Has a whole process, Nest's own packages included, run on the version of NestJS asked for: 11 is installed
// under other names. Remembers where its core came from.
registerHooks({
  resolve(specifier, context, next) {
    const name = /^@nestjs\/(?=(?:axios|common|core|platform-express)(?:\/|$))/
    const other = process.env.NEST === '11' ? specifier.replace(name, 'nest11-') : specifier
    const resolved = next(other, other === specifier ? context : { ...context, parentURL: import.meta.url })
    if (specifier === '@nestjs/core') process.env.NEST_CORE = resolved.url
    return resolved
  },
})
