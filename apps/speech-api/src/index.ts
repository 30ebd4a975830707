export { ApiError } from './api-error.ts'
export { createCommandEngine } from './engines/command-engine.ts'
export { createGrammarEngine } from './engines/grammar/create-grammar-engine.ts'
export type {
  EngineOptions,
  ExpectedSpeech,
  SpeechEngine,
  SpeechSegment,
  Transcript,
  TranscriptWarning,
} from './engines/speech-engine.ts'
export { type RunningSpeechApi, type SpeechApiOptions, startSpeechApi } from './http/create-speech-api.ts'
export type { TranscriptionResponse } from './http/schemas.ts'
