import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common'
import { FileInterceptor } from '@nestjs/platform-express'
import { SpeechService, type Transcription } from './speech.service.js'

/** What is expected in the recording: the speech API checks it. */
class TranscribeDto {
  expected?: string
  phrases?: string
  text?: string
}

@Controller('transcriptions')
export class TranscriptionsController {
  constructor(private readonly speech: SpeechService) {}

  // The recording is kept in memory: it can be sent again if its token was rejected.
  @Post()
  @HttpCode(200)
  @UseInterceptors(FileInterceptor('file', { limits: { fileSize: 25 * 1024 * 1024 } }))
  transcribe(
    @Body() fields: TranscribeDto,
    @UploadedFile() file?: { buffer: Buffer<ArrayBuffer> },
  ): Promise<Transcription> {
    if (!file) throw new BadRequestException('The form has no recording in the field "file".')
    return this.speech.transcribe(new Blob([file.buffer]), fields)
  }

  @Get(':id')
  find(@Param('id') id: string): Promise<Transcription> {
    return this.speech.find(id)
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id') id: string): Promise<void> {
    return this.speech.remove(id)
  }
}
