import { render } from "preact";
import { ServerStore } from "./api/server-store";
import { App } from "./app";
import { EmbeddedStore } from "./embedded/store";


const model = document.getElementById("locktrace-model");
const store = model === null ? new ServerStore() : new EmbeddedStore(model.textContent ?? "");
const page = document.getElementById("page")!;
page.replaceChildren();
render(<App store={store} />, page);
