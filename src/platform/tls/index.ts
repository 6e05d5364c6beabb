export {
  createTlsMaterial,
  followMaterial,
  type SecureListener,
  type TlsMaterial,
  TlsMaterialError,
  type TlsOptions,
  type TlsSource,
} from './material.ts'
