import { Controller, Get, Inject } from '@nestjs/common'
import type { PageSettings } from '../../platform/connection.ts'
import { type Sandbox, sandbox, speechApi, type SpeechApi } from '../settings.ts'

@Controller('api/page-settings')
export class PageSettingsController {
  readonly #settings: PageSettings

  constructor(@Inject(speechApi.KEY) { baseURL }: SpeechApi, @Inject(sandbox.KEY) { url }: Sandbox) {
    this.#settings = { speechUrl: baseURL, trials: url !== undefined }
  }

  @Get()
  settings(): PageSettings {
    return this.#settings
  }
}
