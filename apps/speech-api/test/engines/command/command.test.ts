import process from 'node:process'
import { expect, test, describe } from 'vitest'
import { parseCommand } from '../../../src/engines/command/parse-command.ts'
import { readOutput } from '../../../src/engines/command/read-output.ts'

const node = process.execPath
const wordsOf = (args: string) => parseCommand(`"${node}" ${args}`).argumentsFor('/tmp/a recording.wav')

test.each([
  ['-infile {file} -time yes', ['-infile', '/tmp/a recording.wav', '-time', 'yes']],
  ['--input={file}', ['--input=/tmp/a recording.wav']],
  ['{file} {file}', ['/tmp/a recording.wav', '/tmp/a recording.wav']],
  [`-m 'my models/large.bin' "{file}"`, ['-m', 'my models/large.bin', '/tmp/a recording.wav']],
  [String.raw`my\ model {file}`, ['my model', '/tmp/a recording.wav']],
  [`'' "" {file}`, ['', '', '/tmp/a recording.wav']],
  [
    '{file} ; rm -rf $HOME `id` $(id) | tee > all &',
    '/tmp/a recording.wav ; rm -rf $HOME `id` $(id) | tee > all &',
  ],
])('splits the arguments without interpreting anything else: %s', (line, words) => {
  const split = wordsOf(line)
  if (typeof words === 'string') expect(split.join(' ')).toBe(words)
  else expect(split).toEqual(words)
})

test('does not interpret the path of the recording', () => {
  expect(parseCommand(`"${node}" {file}`).argumentsFor('$&{file}')).toEqual(['$&{file}'])
})

test('finds the program in PATH', () => {
  expect(parseCommand('node {file}', node.replace(/\/node$/, '')).program).toBe(node)
})

test.each([
  ['', 'The command is empty. Set a program and its arguments.'],
  ['  ', 'The command is empty. Set a program and its arguments.'],
  ['node -i "{file}', 'The command has an unclosed quote or ends with a backslash: node -i "{file}'],
  ["node 'it's {file}'", 'The command has an unclosed quote or ends with a backslash'],
  ['node {file} \\', 'The command has an unclosed quote or ends with a backslash'],
  ['node -i file.wav', 'No argument of "node -i file.wav" contains {file}. Add it'],
  ['{file}', 'No argument of "{file}" contains {file}'],
  ['no-such-program {file}', 'The program "no-such-program" was not found'],
  [`${import.meta.filename} {file}`, '/command.test.ts" was not found. Install it, or set its full path.'],
])('rejects "%s"', (line, sentence) => {
  expect(() => parseCommand(line)).toThrow(sentence)
})

const segmentsOf = (output: string) => readOutput(output, 10)

describe('plain text', () => {
  test.each(['four two', ' four\n two \n\n', 'four\ttwo\r\n'])('is one segment: %j', (output) => {
    expect(segmentsOf(output)).toEqual([{ start: 0, end: 10, text: 'four two' }])
  })

  test.each(['42', 'true', '"four"', '[four'])('may look like JSON: %s', (output) => {
    expect(segmentsOf(output)).toEqual([{ start: 0, end: 10, text: output }])
  })

  test.each(['', '\n \n'])('without words becomes no segment: %j', (output) => {
    expect(segmentsOf(output)).toEqual([])
  })
})

describe('lines with times', () => {
  test('from whisper-cli become segments', () => {
    const output = `
[00:00:00.000 --> 00:00:02.500]   Four two.
[00:00:02.500 --> 00:00:03.000]  [BLANK_AUDIO]
[01:00:00.000 --> 01:00:01.000]   Past the end.
00:05.000 --> 00:06,250 six
`
    expect(segmentsOf(output)).toEqual([
      { start: 0, end: 2.5, text: 'Four two.' },
      { start: 10, end: 10, text: 'Past the end.' },
      { start: 5, end: 6.25, text: 'six' },
    ])
  })

  test('from pocketsphinx become segments; the text above them is ignored', () => {
    const output = `four two
<s> 0.000 0.170 1.000000
four 0.180 0.520 0.998109
two(2) 0.530 0.790 1.000100
(NULL) 0.790 0.790 1.000000
[NOISE] 0.790 0.850 0.400000
<sil> 0.860 0.990 1.000000
`
    expect(segmentsOf(output)).toEqual([
      { start: 0.18, end: 0.52, text: 'four', confidence: 0.998109 },
      { start: 0.53, end: 0.79, text: 'two', confidence: 1 },
    ])
  })

  test('with only silence become no segments', () => {
    expect(segmentsOf('\n<sil> 0.000 2.000 1.000000\n')).toEqual([])
  })
})

describe('JSON', () => {
  const segments = [
    { start: 0.5, end: 1, text: ' four ', id: 7, tokens: [1] },
    { start: 1, end: 99, text: 'two', confidence: 0.5 },
  ]
  const read = [
    { start: 0.5, end: 1, text: 'four' },
    { start: 1, end: 10, text: 'two', confidence: 0.5 },
  ]

  test('with segments is read', () => {
    expect(segmentsOf(JSON.stringify(segments))).toEqual(read)
    expect(segmentsOf(JSON.stringify({ language: 'en', segments }, null, 2))).toEqual(read)
    expect(segmentsOf('[]')).toEqual([])
  })

  test.each([
    ['{"text": "four"}', 'The program printed JSON without segments.'],
    ['{"segments": [', 'The program printed incomplete JSON.'],
    ['{"segments": {}}', 'The program printed JSON without segments.'],
    ['["four"]', 'The program printed a segment that lacks start, end or text.'],
    ['[{"start": 1, "end": 2}]', 'The program printed a segment that lacks start, end or text.'],
    [
      '[{"start": "1", "end": 2, "text": "four"}]',
      'The program printed a segment that lacks start, end or text.',
    ],
    ['[null]', 'The program printed a segment that lacks start, end or text.'],
  ])('in another format is rejected: %s', (output, sentence) => {
    expect(() => segmentsOf(output)).toThrow(sentence)
  })
})
