import { Injectable } from '@nestjs/common'

const maxJobs = 1000

/** Remembers which session created a job: to the speech API, all jobs belong to this server. */
@Injectable()
export class JobOwners {
  readonly #sessions = new Map<string, string>()

  add(job: string, session: string): void {
    this.#sessions.set(job, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > maxJobs) this.#sessions.delete(oldest!)
  }

  has(job: string, session: string): boolean {
    return this.#sessions.get(job) === session
  }

  remove(job: string): void {
    this.#sessions.delete(job)
  }
}
