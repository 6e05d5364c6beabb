import type { AnyNamespaces } from './model.ts'

/** The content that `xs:any` admits, and how it is validated. */
export type Wildcard = {
  readonly namespaces: AnyNamespaces
  readonly processContents: 'strict' | 'lax' | 'skip'
}

export const admits = ({ namespaces }: Wildcard, uri: string): boolean => {
  switch (namespaces.kind) {
    case 'any':
      return true
    case 'not':
      return uri !== namespaces.namespace && uri !== ''
    case 'list':
      return namespaces.namespaces.includes(uri)
  }
}

/** Describes what the wildcard expects. */
export const described = ({ namespaces }: Wildcard): string => {
  switch (namespaces.kind) {
    case 'any':
      return 'any element'
    case 'not':
      return `an element of a namespace other than ${namespaces.namespace}`
    case 'list':
      return `an element of ${namespaces.namespaces.join(' or ')}`
  }
}
