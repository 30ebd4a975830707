/** Asymmetric signatures only, as the verifier accepts them. */
export { asymmetricAlgorithms as assertionAlgorithms } from '@tokenwell/resource-server/internal'
