import { Module, type DynamicModule } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { SpeechService } from '../clients/speech.service.ts'
import { ErrorFilter } from './error.filter.ts'
import { JobOwners, TranscriptionsController } from './transcriptions.controller.ts'
import { PAGE_CLIENT, PageTokenController } from './page-token.controller.ts'
import {
  PageSettingsController,
  SERVER_SETTINGS,
  type ServerSettings,
  TokenStatusService,
} from './page-settings.controller.ts'
import { TrialsController } from './trials.controller.ts'
import { SessionsController } from './session.ts'

@Module({
  controllers: [
    PageSettingsController,
    SessionsController,
    PageTokenController,
    TranscriptionsController,
    TrialsController,
  ],
  providers: [SpeechService, TokenStatusService, JobOwners, { provide: APP_FILTER, useClass: ErrorFilter }],
})
class ServerModule {}

export function serverModule(settings: ServerSettings): DynamicModule {
  const { speechUrl, authUrl, clientId, clientSecret, page } = settings
  return {
    module: ServerModule,
    imports: [
      TokenModule.forRoot({ authUrl, clientId, clientSecret, isGlobal: true }),
      ...(page ? [TokenModule.forRoot({ authUrl, ...page, name: PAGE_CLIENT })] : []),
      TokenHttpModule.register({ baseURL: speechUrl }),
    ],
    providers: [{ provide: SERVER_SETTINGS, useValue: settings }],
  }
}
