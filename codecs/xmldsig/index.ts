export { canonicalCopy, canonicalForm } from './canonical.ts'
export {
  type CanonicalName,
  canonicalIssuer,
  issuerText,
  nameCharsMax,
  parseName,
} from './distinguished-name.ts'
export { type CanonicalOptions, exclusiveC14n } from './exclusive-c14n.ts'
export { Scratch } from './scratch.ts'
export {
  type CanonicalEnvelope,
  type PreparedKeyInfo,
  prepareKeyInfo,
  prepareSignature,
  type Signer,
  signEnvelope,
  signWhole,
} from './sign.ts'
export {
  type SignerCertificate,
  type VerifyPorts,
  verifyEnvelope,
  verifyWhole,
} from './verify.ts'
