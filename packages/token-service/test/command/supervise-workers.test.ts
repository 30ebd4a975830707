import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import timers, { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { superviseWorkers } from '../../src/command/supervise-workers.ts'
import { workerVariable } from '../../src/http/worker-metrics.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  syncBuiltinESMExports()
  process.exitCode = undefined
})

/** A supervisor whose workers, and the process itself, do only what a test makes them do. */
function supervised(count: number) {
  const kill = vi.fn()
  const send = vi.fn()
  const isConnected = vi.fn(() => true)
  const worker = Object.assign(new EventEmitter().setMaxListeners(0), {
    process: { pid: 7, kill },
    send,
    isConnected,
  })
  const fork = vi.spyOn(cluster, 'fork').mockReturnValue(worker as unknown as Worker)
  const workers = vi.spyOn(cluster, 'workers', 'get').mockReturnValue({ 1: worker as unknown as Worker })
  const listeners = new Map<unknown, () => void>()
  vi.spyOn(process, 'on').mockImplementation((event: unknown, listener: () => void) => {
    listeners.set(event, listener)
    return process
  })
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  const lines: string[] = []
  void superviseWorkers(count, (line) => lines.push(line))
  const emit = async (event: string, ...values: unknown[]) => {
    worker.emit(event, ...values)
    await nextTurn()
  }
  return {
    emit,
    send,
    fork,
    workers,
    isConnected,
    kill,
    exit,
    lines,
    stop: () => listeners.get('SIGTERM')?.(),
  }
}

describe('a supervisor of workers', () => {
  it('starts the others once the first one is ready', async () => {
    const { emit, fork } = supervised(3)
    await emit('message', {})
    expect(fork).toHaveBeenCalledTimes(1)
    await emit('message', 'ready')
    expect(fork.mock.calls).toEqual([1, 2, 3].map(() => [{ [workerVariable]: 'true' }]))
  })

  it.each([
    [2, 2],
    [null, 1],
  ])('exits like the first one if that exits before it is ready: %s', async (code, exitCode) => {
    const { emit, exit } = supervised(1)
    await emit('exit', code, null)
    expect(exit.mock.calls[0]).toEqual([exitCode])
  })

  it('exits with 0 if it stops before the first one is ready', async () => {
    const { emit, exit, stop } = supervised(1)
    stop()
    await emit('exit', null, 'SIGTERM')
    expect(exit.mock.calls[0]).toEqual([0])
  })

  it('sends the metrics of all workers to one that requests them, unless it has exited', async () => {
    const { emit, send, workers, isConnected } = supervised(1)
    workers.mockReturnValue({})
    isConnected.mockReturnValueOnce(false)
    await emit('message', { metricsId: 5 })
    await expect.poll(() => isConnected).toHaveBeenCalled()
    await emit('message', { metricsId: 6 })
    await expect.poll(() => send.mock.calls).toEqual([[{ metricsId: 6, metrics: '' }]])
  })

  it('replaces workers that exit, after a time that doubles until one has run for a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const delay = vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined)
    syncBuiltinESMExports()
    const { emit, fork, lines } = supervised(1)
    await emit('message', 'ready')
    for (const ranMs of [0, 60_000, 0, 60_001, 0, 0, 0, 0, 0, 0]) {
      vi.advanceTimersByTime(ranMs)
      await emit('exit', null, 'SIGKILL')
    }
    const seconds = delay.mock.calls.map(([waitMs = 0]) => waitMs / 1_000)
    expect(seconds).toEqual([1, 2, 4, 1, 2, 4, 8, 16, 30, 30])
    expect(lines[1]).toBe('Worker 7 exited (SIGKILL). Starting another one in 2 s.')
    expect(fork).toHaveBeenCalledTimes(11)
  })

  it('does not wait to replace a worker that exited when it stops', async () => {
    const { emit, exit, stop } = supervised(1)
    await emit('message', 'ready')
    await emit('exit', 1, null)
    expect(exit).not.toHaveBeenCalled()
    stop()
    await nextTurn()
    expect(exit.mock.calls).toEqual([[]])
  })

  it.each([
    [0, 0],
    [3, 3],
    [null, 1],
  ])('exits like its workers when it stops: %s', async (code, exitCode) => {
    const { emit, exit, lines, stop } = supervised(1)
    await emit('message', 'ready')
    stop()
    await emit('exit', code, null)
    expect([process.exitCode, exit.mock.calls, lines]).toEqual([exitCode, [[]], []])
  })

  it('passes a signal on to its workers, and stops at once on a second one', async () => {
    const { kill, exit, stop } = supervised(1)
    stop()
    expect(exit).not.toHaveBeenCalled()
    stop()
    expect(kill.mock.calls).toEqual([['SIGTERM'], ['SIGKILL']])
    expect(exit.mock.calls).toEqual([[1]])
  })
})
