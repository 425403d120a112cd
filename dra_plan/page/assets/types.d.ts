// What stands in the page as data, and what the parts of the script hand to each other. Texts are numbers of `texts`.
type Texts = number;
type Tone = "good" | "bad" | "other" | "plain";

/** A device that is cut into parts: rows of slots, rows of parts (first column, width, device), amounts with pips. */
interface Physical {
  name: string;
  model: string;
  columns: number;
  covered: boolean;
  slots: [string, number[]][];
  rows: [string, [number, number, number][]][];
  amounts: [string, number][];
  whole: number[];
}
interface Pool {
  /** Whether its driver's devices stand for a node. */
  leads: boolean;
  driver: Texts;
  name: Texts | null;
  state: string;
  frames: [Texts, number[]][];
  physical: Physical[];
}
interface Layout {
  kind: Texts;
  pools: Pool[];
  devices: string[];
  models: Texts[];
  whole: number[];
}
/** What is left of a counter, the pips that are taken, and the share in percent. */
type Amount = [Texts, number, number];
interface Place {
  name: string;
  /** Filled in by the model: its scene, its number there, and its layout. */
  scene: number;
  at: number;
  layout: Layout;
  /** By device the values of attributes that name it. */
  ids?: Record<number, Texts[]>;
  kind: number;
  states: string;
  details?: Record<number, Texts>;
  /** What keeps pods away. */
  away?: Texts;
  labels?: Texts[];
  new?: boolean;
  /** Whether it is another in the other picture. */
  differs?: boolean;
  reached?: string;
  slots?: number[][];
  amounts?: Amount[];
  shared?: boolean;
}
interface Scene {
  title: string;
  says: string;
  layouts: Layout[];
  places: Place[];
  labels: string[];
  keeps_ids: boolean;
  /** The driver whose devices stand for a node, if there are others. */
  leads: string;
  /** Filled in by the model. */
  byName: Map<string, Place>;
}
/** What is known of a place. */
type Of<T> = (place: Place) => T;
type ByDevice = Record<number, Texts>;
/** Tone, label, message; by device what it gets, why it does not do, what becomes of its holder, why it is not meant; and what an open node says instead of the message. */
type Mark = [Tone, Texts, Texts, ByDevice, ByDevice, ByDevice, ByDevice, Texts?];
/** Devices that are another than before (place, device, state, detail), and amounts by place. */
type Change = [[number, number, string, Texts][], Record<string, Amount[]>];
interface Asked {
  key: string;
  address: string;
  name: string;
  tone: Tone;
  word: string;
  line: string;
  marks: number[];
  change: Change | null;
  moment: number | null;
  each_alone: boolean;
  has_devices: boolean;
  step: number | null;
  ways: [Texts, Texts, number][];
}
interface PageData {
  /** Of each step where it is on the curves, in percent of their width. */
  at: number[];
  before: string;
  briefs: string[];
  document?: unknown;
  document_follows: boolean;
  gets: string;
  harm: string;
  marks: Record<number, Mark>[];
  moments: Change[];
  moments_in: number;
  opens_on: number;
  order: number[];
  picks: Asked[];
  scenes: Scene[];
  steps: number;
  texts: string[];
  words: Record<string, string>;
}

/** A device at the moment that is shown. */
interface DeviceNow {
  letter: string;
  detail: string;
  gets?: string;
  note?: string;
  harm?: string;
  other?: string;
  /** What is picked has it already. */
  has: boolean;
  /** It would do, if the node took the pod. */
  near: boolean;
}
interface ModelCount {
  name: string;
  total: number;
  free: number;
  shared: number;
  gets: number;
  leads: boolean;
}
/** What is left of a model on several nodes: what is free also where the pick fits, and where pods are kept away; frames by their free devices, and those of them that are kept away. */
interface Left extends ModelCount {
  good: number;
  away: number;
  by: string;
  sizes: Map<number, [number, number]>;
}
/** Why nodes are told apart: how many there are of it, and the class of its colour. */
interface Reason {
  key: string;
  tone: Tone;
  look: string;
  /** Whether the devices of these nodes would do. */
  isNear: boolean;
  count: number;
}
interface Hit {
  named: boolean;
  devices: number[];
}
interface Look {
  look: string;
  fill: number;
  away: boolean;
  touched: boolean;
  dim: boolean;
}
interface Group {
  name: string;
  more: string;
  own: Place[];
}
interface DrawnGroup {
  own: Place[];
  section: HTMLElement;
  more: HTMLElement;
  drawn: HTMLElement;
  tiles: HTMLElement;
  paint: SVGElement;
  links: HTMLElement[];
}
type Item = Node | string | boolean | undefined | Record<string, string | number | boolean | undefined>;
/** A part of an element: a child, attributes, or several. */
type Part = Item | Item[];
type Model = ReturnType<typeof import("./model.js").makeModel>;
type Drawing = ReturnType<typeof import("./draw.js").makeDrawing>;
type Fleet = ReturnType<typeof import("./fleet.js").makeFleet>;
