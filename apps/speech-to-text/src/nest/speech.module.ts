import { Module } from '@nestjs/common'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { speechApi } from './settings'
import { SpeechService } from './speech.service'
import { TranscriptionsController } from './transcriptions.controller'

@Module({
  imports: [TokenHttpModule.registerAsync(speechApi.asProvider())],
  controllers: [TranscriptionsController],
  providers: [SpeechService],
  exports: [TokenHttpModule],
})
export class SpeechModule {}
