// What the token service shares with the verifier. For nobody else: it may change with every version.
export { createKeySet, createRemoteKeySet, type KeySet } from './checks/key-set.ts'
export { asymmetricAlgorithms } from './checks/algorithms.ts'
export { checkDpopProof, proofExpiry } from './checks/dpop-proof.ts'
