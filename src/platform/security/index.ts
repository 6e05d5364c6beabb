export {
  type CertificateUse,
  type DescribedCertificate,
  describeCertificate,
  usedFiles,
} from './certificate.ts'
export { isHere, isReadableOnTheWay, warnOfClearText } from './clear-text.ts'
export { secretsMatch } from './constant-time.ts'
export { keyRoutesWithoutDatabase } from './key-management/index.ts'
export {
  createFileMaterial,
  createStoreMaterial,
  followMaterial,
  type KeyFiles,
  type KeyMaterial,
  KeyMaterialError,
  keyFileProblems,
  type StoredPair,
  type TlsOptions,
  tlsOptionsOf,
} from './key-material.ts'
export {
  accountForm,
  defaultAccount,
  generateKey,
  hashMatches,
  type KeyEnvironment,
  parseKey,
} from './keys/api-key.ts'
export {
  type Authenticator,
  createAuthenticator,
  institutionDefault,
  type KeyRecord,
  type KeySource,
  type Principal,
  type TokenGrant,
  type TokenSource,
} from './keys/authenticator.ts'
export {
  createKeyFileSource,
  readKeyFile,
} from './keys/key-file.ts'
export {
  createKeyFileStore,
  type KeyStore,
  type ListedKey,
  type NewKey,
} from './keys/key-store.ts'
export { createKeyTable, createKeyTableStore } from './keys/key-table.ts'
export { type Networks, networksOf } from './keys/networks.ts'
export {
  forbiddenBy,
  type RestrictionName,
  type Restrictions,
  requestsPerSecondMax,
  restrictionNamesOf,
  restrictionsSchema,
  type StoredRestrictions,
} from './keys/restrictions.ts'
export { institutionScopes, isGrant, pixScopes, type Scope, scopes } from './keys/scopes.ts'
export {
  hasTls,
  listenerMaterial,
  listenerTlsProblems,
} from './listener-tls.ts'
export {
  checkValueOf,
  KeyRefusedError,
  unwrapDesKey,
  withParity,
  wrapDesKey,
} from './payment/keys.ts'
export { type MacAlgorithm, macAlgorithms, macBytes, macOf } from './payment/mac.ts'
export {
  isClearPinBlock,
  PinBlockError,
  type PinFormat,
  sealPin,
  translatePin,
} from './payment/pin-block.ts'
export { type ChosenKey, openRsaKey } from './rsa/index.ts'
export { masterKey } from './sealing/master-key.ts'
export {
  type ResealCounts,
  type SealedRecord,
  type SealedStock,
  sealedStock,
} from './sealing/reseal.ts'
export { createSealer, SealError, type Sealer, sealerOf } from './sealing/sealer.ts'
export {
  findInIdentifier,
  findSensitive,
  isCardNumber,
  luhnSum,
  scrub,
  scrubFields,
} from './sensitive/index.ts'
