import { registerHooks } from 'node:module'

// Runs a process, including the packages of NestJS, with the given version of NestJS. Version 11 is installed
// under other names. Records the path of its core.
registerHooks({
  resolve(specifier, context, next) {
    const name = /^@nestjs\/(?=(?:axios|common|core|platform-express)(?:\/|$))/
    const other = process.env.NEST === '11' ? specifier.replace(name, 'nest11-') : specifier
    const resolved = next(other, other === specifier ? context : { ...context, parentURL: import.meta.url })
    if (specifier === '@nestjs/core') process.env.NEST_CORE = resolved.url
    return resolved
  },
})
