import { HttpService } from '@nestjs/axios'
import { Inject, Injectable } from '@nestjs/common'
import { firstValueFrom } from 'rxjs'
import type { SpeechApiResponse } from '../../speech/speech-api-response.ts'
import type { SpeechApiRequest } from '../../speech/transcribe-recording.ts'

/** Calls the speech API with the `HttpService` of `TokenHttpModule`, which attaches the tokens. */
@Injectable()
export class SpeechService {
  readonly #http: HttpService

  constructor(@Inject(HttpService) http: HttpService) {
    this.#http = http
  }

  async send({ method, path, form, signal }: SpeechApiRequest): Promise<SpeechApiResponse> {
    const { status, data, headers } = await firstValueFrom(
      this.#http.request({
        method,
        url: `/v1/transcriptions${path}`,
        validateStatus: null,
        ...(form && { data: form }),
        ...(signal && { signal }),
      }),
    )
    return { status, body: data, retryAfter: headers['retry-after'] }
  }
}
