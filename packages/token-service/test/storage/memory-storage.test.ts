import { createMemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { describeStorage } from './storage-contract.ts'

describeStorage('memory storage', async () => createMemoryStorage())
