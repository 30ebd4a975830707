import { Module, type DynamicModule } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import 'reflect-metadata'
import { TokenModule } from '@tokenwell/nestjs-module'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import type { Connection } from '../platform/connection.ts'
import { transcribeRecording } from '../speech/transcribe-recording.ts'
import type { SpeechClient } from './speech-client.ts'
import { SpeechService } from './speech.service.ts'

@Module({})
class SpeechModule {}

function speechModule({ speechUrl, ...tokens }: Connection): DynamicModule {
  return {
    module: SpeechModule,
    imports: [
      TokenModule.forRoot({ ...tokens, isGlobal: true }),
      TokenHttpModule.register({ baseURL: speechUrl }),
    ],
    providers: [SpeechService],
  }
}

export async function createNestClient(connection: Connection): Promise<SpeechClient> {
  const application = await NestFactory.createApplicationContext(speechModule(connection), {
    logger: false,
    abortOnError: false,
  })
  const speech = application.get(SpeechService)

  return {
    transcribe: (recording, options) =>
      transcribeRecording((request) => speech.send(request), recording, options),
    close: () => application.close(),
  }
}
