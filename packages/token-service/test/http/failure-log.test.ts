import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createFailureLog } from '../../src/http/failure-log.ts'
import { StorageFailure } from '../../src/storage/storage-failure.ts'

describe('the log of failures', () => {
  it('has one line per minute while the storage fails, with the number of failures', () => {
    let nowMs = 0
    const lines: string[] = []
    const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) })
    const log = createFailureLog(logger, () => nowMs)
    for (let second = 0; second < 150; second += 1) {
      nowMs = second * 1_000
      log(new StorageFailure(new Error('disk full')))
    }
    const line = (failures: number) => ({ level: 50, failures, msg: 'The storage failed: disk full' })
    expect(lines.map((each): unknown => JSON.parse(each))).toEqual([line(1), line(60), line(60)])
  })

  it('has every other error in full', () => {
    const lines: string[] = []
    const log = createFailureLog(pino({}, { write: (line) => void lines.push(line) }))
    log(new TypeError('first'))
    log(new TypeError('second'))
    expect(lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)).toEqual([
      'first',
      'second',
    ])
  })
})
