import { HttpService } from '@nestjs/axios'
import { Injectable } from '@nestjs/common'
import { firstValueFrom } from 'rxjs'

export interface Transcription {
  readonly id: string
  readonly state: 'running' | 'done' | 'failed'
  readonly text?: string
}

/** Calls the speech API. The `HttpService` of `TokenHttpModule` attaches the tokens. */
@Injectable()
export class SpeechService {
  constructor(private readonly http: HttpService) {}

  /** The transcript of a long recording is not there yet: get the transcription again until it is no longer running. */
  async transcribe(recording: Blob, fields: object): Promise<Transcription> {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value))
    form.set('file', recording)
    const { data } = await firstValueFrom(this.http.post<Transcription>('/v1/transcriptions', form))
    return data
  }

  async find(id: string): Promise<Transcription> {
    const { data } = await firstValueFrom(this.http.get<Transcription>(this.urlOf(id)))
    return data
  }

  async remove(id: string): Promise<void> {
    await firstValueFrom(this.http.delete(this.urlOf(id)))
  }

  private urlOf(id: string): string {
    return `/v1/transcriptions/${encodeURIComponent(id)}`
  }
}
