import { registerHooks } from 'node:module'

// Runs a whole process, including the packages of NestJS, on NestJS 10 or 11, which are installed under other names.
registerHooks({
  resolve(specifier, context, next) {
    const name = /^@nestjs\/(?=(?:common|core|platform-express)(?:\/|$))/
    const { NEST } = process.env
    const other = NEST === '12' ? specifier : specifier.replace(name, `nest${NEST}-`)
    const resolved = next(other, other === specifier ? context : { ...context, parentURL: import.meta.url })
    if (specifier === '@nestjs/core') process.env.NEST_CORE = resolved.url
    return resolved
  },
})
