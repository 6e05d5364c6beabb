import { type ComponentChildren, Fragment, options } from 'preact'

/** Invisible characters that turn around the order of the text after them (Unicode UAX 9). */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const visibleText = (text: string): string =>
  text.replaceAll(
    turning,
    (sign) => `‹U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`,
  )

const visible = (children: ComponentChildren): ComponentChildren => {
  if (typeof children === 'string') return visibleText(children)
  return Array.isArray(children) ? children.map(visible) : children
}

/** Shows each as its number wherever text is drawn, because one in a name changes how the text after it reads. */
export const showTurningSigns = (): void => {
  const before = options.vnode
  options.vnode = (vnode) => {
    const props = vnode.props as { children?: ComponentChildren }
    // A component may compare or send its values, so we change only what is drawn.
    const isShown = typeof vnode.type === 'string' || vnode.type === Fragment
    if (isShown) props.children = visible(props.children)
    before?.(vnode)
  }
}
