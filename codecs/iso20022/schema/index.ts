export { compileSchema } from './compile.ts'
export type { CompiledElement, CompiledSchema, CompiledType } from './compiled.ts'
export { SchemaError, type SchemaModel } from './model.ts'
export { withNamespace } from './namespace.ts'
export { PatternError, PatternMatcher, parsePattern, patternPlacesMax } from './pattern/index.ts'
export { createSimpleTypeCache } from './simple.ts'
export { createSchemaValidator, type SchemaValidator, validateDocument } from './validate.ts'
export {
  type SchemaViolation,
  type Verdict,
  violationsMax,
} from './violation.ts'

export { createSchemaDocumentCache, parseSchema } from './xsd-parse.ts'
