export { generateKey, hashMatches, type KeyEnvironment, parseKey } from './api-key.ts'
export {
  type Authenticator,
  createAuthenticator,
  type KeyRecord,
  type KeySource,
  type Principal,
} from './authenticator.ts'
export {
  createKeyFileSource,
  type KeyFile,
  type KeyFileEntry,
  readKeyFile,
  writeKeyFile,
} from './key-file.ts'
export { createKeyFileStore, type KeyStore, type ListedKey, type NewKey } from './key-store.ts'
export { createKeyTable, createKeyTableStore, type KeyTable } from './key-table.ts'
export { isGrant, type Scope, scopes } from './scopes.ts'
