// The only place that knows ECharts; it is loaded when the first chart with axes is shown. What people read,
// point at and press stands beside it in HTML: its own tooltips, legends and tools cannot be reached with keys.
import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, MarkPointComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, LineChart, GridComponent, MarkLineComponent, MarkPointComponent, SVGRenderer]);

export { init };
