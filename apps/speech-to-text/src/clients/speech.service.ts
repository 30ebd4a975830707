import { HttpService } from '@nestjs/axios'
import { Inject, Injectable } from '@nestjs/common'
import { firstValueFrom } from 'rxjs'
import { readTranscript } from '../read-transcript.ts'
import type { Transcript } from '../transcript.ts'

/** Calls the speech API through the `HttpService` of `TokenHttpModule`, which attaches the tokens. */
@Injectable()
export class SpeechService {
  readonly #http: HttpService

  constructor(@Inject(HttpService) http: HttpService) {
    this.#http = http
  }

  /** @throws {SpeechApiError} for every answer that holds no transcript */
  async transcribe(recording: Blob, signal?: AbortSignal): Promise<Transcript> {
    const { status, data, headers } = await firstValueFrom(
      this.#http.post('/v1/transcriptions', recording, {
        headers: { 'content-type': 'audio/wav' },
        validateStatus: null,
        ...(signal && { signal }),
      }),
    )
    return readTranscript({ status, body: data, retryAfter: headers['retry-after'] })
  }
}
