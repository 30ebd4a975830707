import { program } from './program.js'

program(process.env.PLATFORM).then(console.log)
