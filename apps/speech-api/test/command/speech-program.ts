// What the tests have recognise speech: it does as its first argument says with the recording, its last.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const [task, ...words] = process.argv.slice(2)
const file = words.pop() ?? ''

switch (task) {
  case 'says':
    process.stdout.write(words.join(' '))
    break
  case 'hears-digits': {
    // Loaded by no other task, for it takes its time.
    const { hearFile } = await import('../hear.ts')
    process.stdout.write(JSON.stringify(hearFile(readFileSync(file))))
    break
  }
  case 'tells-file':
    process.stdout.write(file)
    break
  case 'tells-format': {
    const wav = readFileSync(file)
    const [channels, rate, bits] = [wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]
    process.stdout.write(
      [channels, rate, bits, wav.readUInt32LE(4), wav.readUInt32LE(40), wav.length].join(' '),
    )
    break
  }
  case 'tells-environment':
    process.stdout.write(Object.keys(process.env).sort().join(' '))
    break
  case 'tells-progress':
    process.stdout.write('[00:00.000 --> 00:01.500]  one\n[00:01.500 --> 00:03.000]  two\n')
    break
  case 'chatters': {
    const chatter = () => void process.stdout.write('x'.repeat(100_000), chatter)
    chatter()
    break
  }
  case 'fails':
    process.stderr.write(`${'x'.repeat(100_000)} the gears jammed`)
    process.exitCode = 3
    break
  default:
    process.exitCode = 2
}
