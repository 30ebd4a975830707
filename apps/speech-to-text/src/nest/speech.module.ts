import { Module } from '@nestjs/common'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { speechApi } from './settings.js'
import { SpeechService } from './speech.service.js'
import { TranscriptionsController } from './transcriptions.controller.js'

@Module({
  imports: [TokenHttpModule.registerAsync(speechApi.asProvider())],
  controllers: [TranscriptionsController],
  providers: [SpeechService],
  exports: [TokenHttpModule],
})
export class SpeechModule {}
