import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import {
  BadRequestException,
  Body,
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
import { readJob, readTranscript, type SpeechApiResponse } from '../../speech/speech-api-response.ts'
import type { SpeechApiRequest } from '../../speech/transcribe-recording.ts'
import { SessionGuard } from '../session.ts'
import { TokenStatusService } from '../token-status/token-status.service.ts'
import { JobOwners } from './job-owners.ts'
import { SpeechService } from './speech.service.ts'

/** Forwards recordings to the speech API and returns its responses: a transcript or a job. */
@Controller('api/transcriptions')
@UseGuards(SessionGuard)
export class TranscriptionsController {
  readonly #speech: SpeechService
  readonly #tokenStatus: TokenStatusService
  readonly #owners: JobOwners

  constructor(
    @Inject(SpeechService) speech: SpeechService,
    @Inject(TokenStatusService) tokenStatus: TokenStatusService,
    @Inject(JobOwners) owners: JobOwners,
  ) {
    this.#speech = speech
    this.#tokenStatus = tokenStatus
    this.#owners = owners
  }

  // Stored on disk: it can be sent again after a token was rejected, and uses no memory.
  @Post()
  @UseInterceptors(
    FileInterceptor('file', { dest: tmpdir(), limits: { fileSize: 25 * 1024 * 1024, files: 1 } }),
  )
  async transcribe(
    @UploadedFile() file: { readonly path: string } | undefined,
    @Body() fields: Readonly<Record<string, string>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    if (!file) {
      throw new BadRequestException({
        error: { code: 'no_file', message: 'The form contains no recording.' },
      })
    }
    try {
      const recording = await openAsBlob(file.path, { type: 'audio/wav' })
      const form = new FormData()
      for (const name of ['grammar', 'phrases', 'text'] as const) {
        if (fields[name] !== undefined) form.set(name, fields[name])
      }
      form.set('file', recording, 'recording.wav')
      const speechResponse = await this.#send({ method: 'POST', path: '', form }, response)
      response.status(speechResponse.status)
      if (speechResponse.status !== 202) return readTranscript(speechResponse)
      const { id } = readJob(speechResponse)
      this.#owners.add(id, request.sessionID)
      response.setHeader('location', `/api/transcriptions/${id}`)
      return forward(speechResponse, response)
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
    const speechResponse = await this.#send({ method: 'GET', path: `/${id}` }, response)
    const { transcript, error } = readJob(speechResponse)
    if (transcript ?? error) this.#owners.remove(id)
    return forward(speechResponse, response)
  }

  @Delete(':id')
  async cancel(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    this.#checkOwner(id, request)
    this.#owners.remove(id)
    const { status } = await this.#send({ method: 'DELETE', path: `/${id}` }, response)
    response.status(status)
  }

  #checkOwner(id: string, { sessionID }: Request): void {
    if (this.#owners.has(id, sessionID)) return
    throw new NotFoundException({
      error: {
        code: 'transcription_not_found',
        message: 'The transcription does not exist in your session.',
      },
    })
  }

  #send(request: SpeechApiRequest, response: Response): Promise<SpeechApiResponse> {
    const abort = new AbortController()
    response.once('close', () => abort.abort())
    this.#tokenStatus.countApiCall()
    return this.#speech.send({ ...request, signal: abort.signal })
  }
}

function forward({ body, retryAfter }: SpeechApiResponse, response: Response): unknown {
  if (retryAfter) response.setHeader('retry-after', retryAfter)
  return body
}
