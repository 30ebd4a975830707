export { describeTokenStore, type TokenStoreContractOptions } from './token-store-contract.ts'
