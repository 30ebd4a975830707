export { developerPortal } from './developer-portal.ts'
