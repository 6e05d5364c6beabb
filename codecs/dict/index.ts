export { type Account, cidOf, type DirectoryEntry, type HmacSha256, type KeyType } from './cid.ts'
export {
  accountElement,
  type EntryRequest,
  entryElement,
  type KeptEntry,
  keyTypes,
  personElement,
  personTypeOf,
  readAccount,
  readEntryRequest,
  readKeptEntry,
  readKeyType,
  readPerson,
} from './entry.ts'
export {
  childrenOf,
  demandText,
  type Element,
  nodeAt,
  textAt,
  writeElement,
} from './markup.ts'
export { type DirectoryProblem, problemElement, readProblem } from './problem.ts'
export { createVsync, emptyVsync, type Vsync } from './vsync.ts'
