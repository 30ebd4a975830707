/** Set in each of several processes that one command supervises. */
export const workerVariable = 'TOKENWELL_WORKER'

/** A worker's request to its supervisor for the metrics of all workers. */
export interface MetricsRequest {
  readonly metricsId: number
}

let lastId = 0

export function isWorker(): boolean {
  return process.env[workerVariable] !== undefined && process.send !== undefined
}

/** The metrics of all workers, added up; `undefined` while one of them does not respond, because it starts or stops. */
export function metricsOfAllWorkers(): Promise<string | undefined> {
  const metricsId = (lastId += 1)
  return new Promise((resolve) => {
    function receive(message: Partial<MetricsRequest> & { readonly metrics?: string }): void {
      if (message.metricsId !== metricsId) return
      process.off('message', receive)
      resolve(message.metrics)
    }
    process.on('message', receive)
    process.send?.({ metricsId } satisfies MetricsRequest)
  })
}
