import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import {
  BadRequestException,
  Controller,
  HttpCode,
  Inject,
  Post,
  Res,
  UploadedFile,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { FileInterceptor } from '@nestjs/platform-express'
import type { Response } from 'express'
import { SpeechService } from '../clients/speech.service.ts'
import type { Transcript } from '../transcript.ts'
import { SessionGuard } from './session.guard.ts'
import { TokenLifeService } from './token-life.service.ts'

@Controller('api/transcriptions')
@UseGuards(SessionGuard)
export class TranscriptionsController {
  readonly #speech: SpeechService
  readonly #tokenLife: TokenLifeService

  constructor(
    @Inject(SpeechService) speech: SpeechService,
    @Inject(TokenLifeService) tokenLife: TokenLifeService,
  ) {
    this.#speech = speech
    this.#tokenLife = tokenLife
  }

  // On the disk, where it can be read again when a token was refused, and takes no memory.
  @Post()
  @HttpCode(200)
  @UseInterceptors(
    FileInterceptor('file', { dest: tmpdir(), limits: { fileSize: 25 * 1024 * 1024, files: 1 } }),
  )
  async transcribe(
    @UploadedFile() file: { readonly path: string } | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Transcript> {
    if (!file) {
      throw new BadRequestException({
        error: { code: 'no_file', message: 'There is no recording in this form.' },
      })
    }
    const abort = new AbortController()
    response.once('close', () => abort.abort())
    try {
      this.#tokenLife.countApiCall()
      return await this.#speech.transcribe(await openAsBlob(file.path, { type: 'audio/wav' }), abort.signal)
    } finally {
      await rm(file.path, { force: true })
    }
  }
}
