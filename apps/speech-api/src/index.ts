export { AudioError, type AudioErrorCode } from './wav/wav-format.ts'
export { createSpeechApi } from './server/create-speech-api.ts'
export { type CommandEngineOptions, createCommandEngine } from './engines/command/create-command-engine.ts'
export { createGrammarEngine, type GrammarEngineOptions } from './engines/grammar/create-grammar-engine.ts'
export type { JobResponse, TranscriptionResponse } from './http/transcription-routes.ts'
export type { SlowUploadLimits } from './http/read-upload.ts'
export type { SpeechApiOptions, StartSpeechApiOptions } from './server/speech-api-options.ts'
export {
  EngineBusyError,
  EngineError,
  type EngineErrorCode,
  type ExpectedSpeech,
  ExpectedSpeechError,
  type ExpectedSpeechErrorCode,
  type GrammarName,
  type TranscribeOptions,
  type SpeechEngine,
  type SpeechSegment,
  type Transcript,
  type TranscriptWarning,
} from './engines/speech-engine.ts'
export { type RunningSpeechApi, startSpeechApi } from './server/create-speech-api.ts'
