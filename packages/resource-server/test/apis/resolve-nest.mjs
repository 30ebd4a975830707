import { registerHooks } from 'node:module'

// Runs a whole process, including the packages of NestJS, on NestJS 11, which is installed under other names.
registerHooks({
  resolve(specifier, context, next) {
    const name = /^@nestjs\/(?=(?:common|core|platform-express)(?:\/|$))/
    const other = process.env.NEST === '11' ? specifier.replace(name, 'nest11-') : specifier
    const resolved = next(other, other === specifier ? context : { ...context, parentURL: import.meta.url })
    if (specifier === '@nestjs/core') process.env.NEST_CORE = resolved.url
    return resolved
  },
})
