import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import {
  BadRequestException,
  Controller,
  Delete,
  Get,
  Header,
  Inject,
  NotFoundException,
  Param,
  Post,
  Req,
  Res,
  UploadedFile,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { FileInterceptor } from '@nestjs/platform-express'
import type { Request, Response } from 'express'
import { SpeechService } from '../clients/speech.service.ts'
import { readJob, readTranscript, type SpeechApiAnswer } from '../speech-api-answer.ts'
import type { SpeechApiRequest } from '../transcribe-through.ts'
import { JobOwners } from './job-owners.service.ts'
import { SessionGuard } from './session.guard.ts'
import { TokenLifeService } from './token-life.service.ts'

/** Passes recordings on to the speech API, and back what it answers: a transcript, or a job to ask about. */
@Controller('api/transcriptions')
@UseGuards(SessionGuard)
export class TranscriptionsController {
  readonly #speech: SpeechService
  readonly #tokenLife: TokenLifeService
  readonly #owners: JobOwners

  constructor(
    @Inject(SpeechService) speech: SpeechService,
    @Inject(TokenLifeService) tokenLife: TokenLifeService,
    @Inject(JobOwners) owners: JobOwners,
  ) {
    this.#speech = speech
    this.#tokenLife = tokenLife
    this.#owners = owners
  }

  // On the disk, where it can be read again when a token was refused, and takes no memory.
  @Post()
  @UseInterceptors(
    FileInterceptor('file', { dest: tmpdir(), limits: { fileSize: 25 * 1024 * 1024, files: 1 } }),
  )
  async transcribe(
    @UploadedFile() file: { readonly path: string } | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    if (!file) {
      throw new BadRequestException({
        error: { code: 'no_file', message: 'There is no recording in this form.' },
      })
    }
    try {
      const recording = await openAsBlob(file.path, { type: 'audio/wav' })
      const answer = await this.#send({ method: 'POST', path: '', recording }, response)
      response.status(answer.status)
      if (answer.status !== 202) return readTranscript(answer)
      const { id } = readJob(answer)
      this.#owners.add(id, request.sessionID)
      response.setHeader('location', `/api/transcriptions/${id}`)
      return tell(answer, response)
    } finally {
      await rm(file.path, { force: true })
    }
  }

  @Get(':id')
  @Header('cache-control', 'no-store')
  async progress(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    this.#checkOwner(id, request)
    const answer = await this.#send({ method: 'GET', path: `/${id}` }, response)
    const { transcript, error } = readJob(answer)
    if (transcript ?? error) this.#owners.forget(id)
    return tell(answer, response)
  }

  @Delete(':id')
  async cancel(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.#checkOwner(id, request)
    this.#owners.forget(id)
    const { status } = await this.#send({ method: 'DELETE', path: `/${id}` }, response)
    response.status(status)
  }

  #checkOwner(id: string, { sessionID }: Request): void {
    if (this.#owners.has(id, sessionID)) return
    throw new NotFoundException({
      error: { code: 'unknown_transcription', message: 'There is no such transcription in your session.' },
    })
  }

  #send(request: SpeechApiRequest, response: Response): Promise<SpeechApiAnswer> {
    const abort = new AbortController()
    response.once('close', () => abort.abort())
    this.#tokenLife.countApiCall()
    return this.#speech.send({ ...request, signal: abort.signal })
  }
}

function tell({ body, retryAfter }: SpeechApiAnswer, response: Response): unknown {
  if (retryAfter) response.setHeader('retry-after', retryAfter)
  return body
}
